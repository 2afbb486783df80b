// The source text of every fusion group of a graph.
#pragma once

#include <string>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::opt {

enum class Target { kCuda, kHost };

// Groups by number, each under a comment that names its nodes. A graph without groups gives a comment that says so.
Result<std::string> emit_groups(const ir::Graph& graph, Target target);

}  // namespace tessiq::opt
