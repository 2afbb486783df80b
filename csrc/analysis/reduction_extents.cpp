// The axes before, among and after the reduced ones, each multiplied out.
#include "analysis/reduction_extents.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/size_algebra.h"

namespace tessiq::analysis {
namespace {

Result<std::vector<char>> reduced_axes(const ir::Shape& shape, std::span<const int64_t> axes) {
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<char> reduced(shape.size(), axes.empty() ? 1 : 0);
  for (const int64_t axis : axes) {
    const int64_t index = axis < 0 ? axis + rank : axis;
    // A scalar has the one axis PyTorch lets it be reduced over.
    if (rank == 0 && (axis == 0 || axis == -1)) {
      continue;
    }
    if (index < 0 || index >= rank) {
      return invalid_argument("there is no axis " + std::to_string(axis) + " in a tensor of " + std::to_string(rank));
    }
    if (reduced[static_cast<size_t>(index)] != 0) {
      return invalid_argument("axis " + std::to_string(axis) + " is reduced twice");
    }
    reduced[static_cast<size_t>(index)] = 1;
  }
  return reduced;
}

}  // namespace

Result<ReductionExtents> reduction_extents(const ir::Shape& shape, std::span<const int64_t> axes) {
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<char> reduced, reduced_axes(shape, axes));
  const ir::SizeExpr one = ir::SizeExpr::of_constant(1);
  ReductionExtents extents{one, one, one};
  // Before the reduced axes, among them, after them.
  int stage = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].is(1)) {
      continue;
    }
    TESSIQ_ASSIGN_OR_RETURN(const ir::SizeExpr extent, to_expr(shape[axis]));
    const bool is_reduced = reduced[axis] != 0;
    if (is_reduced && stage == 2) {
      return unsupported("the reduced axes are not neighbours: axis " + std::to_string(axis) + " follows a kept one");
    }
    stage = is_reduced ? 1 : (stage == 0 ? 0 : 2);
    ir::SizeExpr& part = stage == 0 ? extents.outer : (stage == 1 ? extents.reduce : extents.inner);
    part = product(part, extent);
  }
  return extents;
}

}  // namespace tessiq::analysis
