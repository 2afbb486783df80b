// The text form of a graph. Printing then parsing gives the same graph; parsing then printing gives canonical text.
//
//   graph @main(%a: f32[s0, 32], %w: f32[32, 32]{1, 32}) {
//     symbol s1 = s0 * 32
//     %add: f32[s0, 32] = aten.add.Tensor(%a, %a) {alpha = 2}
//     %sum: f32[s0], %index: i64[s0] = aten.max.dim(%add) {1 = 1}
//     return %add, %sum
//   }
//
// `#` starts a comment that ends with its line. Names after % are letters, digits, `_` and `.`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::ir {

std::string print(const Graph& graph);
// One node as it stands in the printed graph, without indentation or newline.
std::string print(const Node& node);

// kInvalidArgument with "line:column: what was expected, what was found". The graph that comes back is verified.
Result<std::unique_ptr<Graph>> parse(std::string_view text);

}  // namespace tessiq::ir
