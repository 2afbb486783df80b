// The shapes an operation gives its results, from its operands' shapes and its constants.
//
// Decides one rule per category, and one per name where a category has several. Leaves element types and layouts to the
// graph, which records what PyTorch computed.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::analysis {

// One shape a result. Nothing where there is no rule, or an argument is not one the rule knows. kInvalidArgument where
// the operands cannot be combined.
Result<std::optional<std::vector<ir::Shape>>> infer_shapes(const ir::Node& node);

// Aligned at the last axis. An unknown extent beside a known one stays unknown unless that is 1: only the call tells
// whether it is 1 or equal. Two symbols are one extent where they are the same, else unknown.
Result<ir::Shape> broadcast(const ir::Shape& a, const ir::Shape& b);

}  // namespace tessiq::analysis
