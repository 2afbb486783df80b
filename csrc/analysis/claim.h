// Whether the backend runs a node. The kernel builders rely on every yes here, and a no says why in a stable id.
#pragma once

#include <string>

#include "analysis/target.h"
#include "ir/graph.h"

namespace tessiq::analysis {

struct Claim {
  bool supported = false;
  // Empty where supported. Stable ids, listed in docs: "no-row", "no-kernel", "element-type", "unknown-keyword",
  // "unknown-extent", "layout", "shape", "several-results", "no-compiler", "no-library".
  std::string reason_id;
  std::string reason;  // for a stranger: which thing, what was found
};

Claim claim(const ir::Node& node, const TargetOptions& target);

}  // namespace tessiq::analysis
