// Broadcasting as strides, and the smallest iteration space that every access allows.
#include "analysis/loop_access.h"

#include <algorithm>
#include <string>

#include "analysis/symbol_expansion.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;

const SizeExpr& zero() {
  static const SizeExpr value = SizeExpr::of_constant(0);
  return value;
}

bool is_constant(const SizeExpr& expression, int64_t value) {
  return expression.kind == SizeExpr::Kind::kConstant && expression.constant == value;
}

std::string shape_text(const ir::Shape& shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + shape[axis].to_string();
  }
  return text + "]";
}

// Whether stepping the outer axis by one is stepping the inner axis through its whole extent.
bool mergeable(const LoopAccess& access, size_t outer, size_t inner, const SizeExpr& inner_extent) {
  return provably_equal(access.strides[outer], product(access.strides[inner], inner_extent));
}

}  // namespace

Result<LoopAccess> loop_access(const ir::TensorType& operand, const ir::Shape& iteration_shape) {
  const size_t rank = iteration_shape.size();
  if (operand.shape.size() > rank) {
    return unsupported("a tensor of shape " + shape_text(operand.shape) + " has more axes than the loop over " +
                       shape_text(iteration_shape));
  }
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<SizeExpr> strides, stride_exprs(operand));
  LoopAccess access;
  access.strides.assign(rank, zero());
  const size_t missing = rank - operand.shape.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    if (iteration_shape[axis].is_unknown()) {
      return unsupported("the extent of axis " + std::to_string(axis) + " of the loop is not known");
    }
    if (axis < missing || operand.shape[axis - missing].is(1)) {
      continue;  // read again at every position of the axis
    }
    if (!operand.shape[axis - missing].provably_equals(iteration_shape[axis])) {
      return unsupported("a tensor of shape " + shape_text(operand.shape) +
                         " is not known to broadcast to the loop over " + shape_text(iteration_shape));
    }
    access.strides[axis] = normalize(strides[axis - missing]);
  }
  return access;
}

std::vector<SizeExpr> collapse(const ir::Shape& iteration_shape, std::vector<LoopAccess>& accesses) {
  std::vector<SizeExpr> extents;
  std::vector<LoopAccess> collapsed(accesses.size());
  for (size_t axis = 0; axis < iteration_shape.size(); ++axis) {
    if (iteration_shape[axis].is(1)) {
      continue;
    }
    const ir::Extent& written = iteration_shape[axis];
    const SizeExpr extent =
        written.is_known() ? SizeExpr::of_constant(written.known()) : SizeExpr::of_symbol(written.name());
    bool merges = !extents.empty();
    for (size_t i = 0; i < accesses.size(); ++i) {
      collapsed[i].strides.push_back(accesses[i].strides[axis]);
      const size_t inner = collapsed[i].strides.size() - 1;
      merges = merges && mergeable(collapsed[i], inner - 1, inner, extent);
    }
    if (!merges) {
      extents.push_back(extent);
      continue;
    }
    // One axis of both extents that steps as the inner one does.
    extents.back() = product(extents.back(), extent);
    for (LoopAccess& access : collapsed) {
      access.strides.erase(access.strides.end() - 2);
    }
  }
  accesses = std::move(collapsed);
  return extents;
}

Result<std::vector<int>> dense_order(const ir::TensorType& type, const ir::Graph* definitions) {
  TESSIQ_ASSIGN_OR_RETURN(std::vector<SizeExpr> strides, stride_exprs(type));
  for (SizeExpr& stride : strides) {
    stride = expand(stride, definitions);
  }
  TESSIQ_ASSIGN_OR_RETURN(const SizeExpr count, element_count(type.shape));
  std::vector<int> order;  // from the fastest to the slowest
  std::vector<int> left;
  for (int axis = 0; axis < type.rank(); ++axis) {
    // An axis of one position is nowhere; in an empty tensor every axis is.
    const bool steps = !type.shape[static_cast<size_t>(axis)].is(1) && !is_constant(count, 0);
    (steps ? left : order).push_back(axis);
  }
  SizeExpr next = SizeExpr::of_constant(1);
  std::reverse(order.begin(), order.end());
  while (!left.empty()) {
    const auto found = std::find_if(left.rbegin(), left.rend(),
                                    [&](int axis) { return provably_equal(strides[static_cast<size_t>(axis)], next); });
    if (found == left.rend()) {
      return unsupported("a layout of type " + type.to_string() +
                         " is not known to hold each element once, without gaps");
    }
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, to_expr(type.shape[static_cast<size_t>(*found)]));
    next = product(next, expand(extent, definitions));
    order.push_back(*found);
    left.erase(std::next(found).base());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace tessiq::analysis
