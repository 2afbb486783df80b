// Whether the backend runs a node. The kernel builders rely on every yes here, and a no says why in a stable id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/target.h"
#include "ir/graph.h"

namespace tessiq::analysis {

// Where a value lives that is not where the tensors of its graph are: "host" on a node whose result is on the CPU. The
// importer sets it.
inline constexpr std::string_view kDeviceAttribute = "tessiq.device";

struct Claim {
  bool supported = false;
  std::string reason_id;  // one of claim_reasons(); empty where supported
  std::string reason;     // for a stranger: which thing, what was found
};

struct ClaimReason {
  std::string_view id;
  std::string_view meaning;
};

// `definitions` is the graph of the node, and says what the symbols of its types stand for; without it a layout of
// symbols is refused more often.
Claim claim(const ir::Node& node, const TargetOptions& target, const ir::Graph* definitions = nullptr);
// Every id a refusal may carry, in the order claims are checked.
const std::vector<ClaimReason>& claim_reasons();

// A loop has at most this many axes.
inline constexpr int kMaxLoopRank = 8;

}  // namespace tessiq::analysis
