// How a loop over a result reads an operand. Claiming, fusion and emission all ask here, so they cannot disagree.
#pragma once

#include <vector>

#include "analysis/size_algebra.h"
#include "ir/graph.h"
#include "ir/type.h"

namespace tessiq::analysis {

// One stride an axis of the iteration space, in elements; 0 where the operand is broadcast. The article's four ways to
// read an operand (flat, one value, repeated, cycled) are special cases.
struct LoopAccess {
  std::vector<ir::SizeExpr> strides;
};

// The operand's shape broadcasts to the result's, aligned at the last axis. kUnsupported where an extent is unknown or
// equality with the result's extent is not proven.
Result<LoopAccess> loop_access(const ir::TensorType& operand, const ir::Shape& iteration_shape);

// The iteration space with every pair of neighbouring axes merged that all accesses allow, and axes of extent 1 gone.
// Rank 0 collapses to no axes. `accesses` are rewritten to match.
std::vector<ir::SizeExpr> collapse(const ir::Shape& iteration_shape, std::vector<LoopAccess>& accesses);

// The axes of a tensor that holds each of its elements once and without gaps, from the slowest to the fastest: what a
// loop may write, and the order to walk it in. Axes of extent 1 have no place of their own. kUnsupported where that is
// not proven; `definitions` says what its symbols stand for.
Result<std::vector<int>> dense_order(const ir::TensorType& type, const ir::Graph* definitions = nullptr);

}  // namespace tessiq::analysis
