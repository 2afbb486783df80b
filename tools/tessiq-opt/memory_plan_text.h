// The memory plan of a graph as a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::opt {

using SymbolSizes = std::map<std::string, int64_t, std::less<>>;

// "s0=32" each; kInvalidArgument on anything else.
Result<SymbolSizes> parse_sizes(const std::vector<std::string>& settings);

// One line a value that a kernel of ours writes, and what the arena takes. Symbols that the graph defines are evaluated
// from `sizes`; kInvalidArgument where a size is still not a number.
Result<std::string> memory_plan_text(const ir::Graph& graph, SymbolSizes sizes);

}  // namespace tessiq::opt
