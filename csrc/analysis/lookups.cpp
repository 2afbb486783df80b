// One function an operation: which axes of the result come from the positions, and which from the operand itself.
#include "analysis/lookups.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/arguments.h"
#include "analysis/index_map.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;
using optable::IndexMap;

constexpr int kLookedUp = -1;

int rank_of(const ir::Value& value) { return value.type().rank(); }

Result<ElementStep> step_reading(const ir::Node& node, StepOperand operand) {
  return copied_step(node, "$0", {std::move(operand)}, 0);
}

// (weight, positions, padding_idx, scale_grad_by_freq, sparse), of which the last three are the gradient's business.
Result<ElementStep> embedding(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"2", "3", "4", "padding_idx", "scale_grad_by_freq", "sparse"}));
  const Arguments arguments(node);
  const ir::Value* weight = arguments.tensor(0);
  const ir::Value* positions = arguments.tensor(1);
  if (weight == nullptr || positions == nullptr || rank_of(*weight) != 2 || arguments.tensor(2) != nullptr) {
    return unsupported(node.op() + " of something other than a matrix and positions");
  }
  const int rank = rank_of(*positions);
  StepOperand operand{operand_index(node, weight)};
  operand.lookups.push_back({0, operand_index(node, positions), 0, rank});
  operand.along = {kLookedUp, rank};
  return step_reading(node, std::move(operand));
}

// (self, dim, index): the axis is replaced by the positions.
Result<ElementStep> index_select(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"1", "dim"}));
  const Arguments arguments(node);
  const ir::Value* self = arguments.tensor(0);
  const ir::Value* positions = arguments.tensor(2);
  const std::optional<int64_t> dim = arguments.integer(1, "dim");
  if (self == nullptr || positions == nullptr || !dim || rank_of(*self) == 0 || rank_of(*positions) > 1) {
    return unsupported(node.op() + " of something other than a tensor with axes and a list of positions");
  }
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, *dim, self->type().shape.size()));
  StepOperand operand{operand_index(node, self)};
  operand.lookups.push_back({static_cast<int>(axis), operand_index(node, positions), static_cast<int>(axis), 1});
  for (int along = 0; along < rank_of(*self); ++along) {
    operand.along.push_back(along == static_cast<int>(axis) ? kLookedUp : along);
  }
  return step_reading(node, std::move(operand));
}

// (self, dim, index): a position an element, of the axis alone.
Result<ElementStep> gather(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"1", "dim", "3", "sparse_grad"}));
  const Arguments arguments(node);
  const ir::Value* self = arguments.tensor(0);
  const ir::Value* positions = arguments.tensor(2);
  const std::optional<int64_t> dim = arguments.integer(1, "dim");
  if (self == nullptr || positions == nullptr || !dim || rank_of(*self) == 0 || rank_of(*self) != rank_of(*positions)) {
    return unsupported(node.op() + " of something other than a tensor and positions of as many axes");
  }
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, *dim, self->type().shape.size()));
  StepOperand operand{operand_index(node, self)};
  operand.lookups.push_back({static_cast<int>(axis), operand_index(node, positions), 0, rank_of(*positions)});
  for (int along = 0; along < rank_of(*self); ++along) {
    operand.along.push_back(along == static_cast<int>(axis) ? kLookedUp : along);
  }
  return step_reading(node, std::move(operand));
}

// (self, [positions or None, ...]). The axes of all positions, broadcast together, stand where the first of them stood,
// or at the front where axes without positions lie between them.
Result<ElementStep> index(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"list.1"}));
  const Arguments arguments(node);
  const ir::Value* self = arguments.tensor(0);
  const TensorList* positions = arguments.tensors(1);
  if (self == nullptr || positions == nullptr || static_cast<int>(positions->size()) > rank_of(*self)) {
    return unsupported(node.op() + " of something other than a tensor and a list of positions for its axes");
  }
  int first = -1;
  int last = -1;
  int rank = 0;
  int count = 0;
  for (int axis = 0; axis < static_cast<int>(positions->size()); ++axis) {
    if (const ir::Value* one = (*positions)[static_cast<size_t>(axis)]) {
      first = first < 0 ? axis : first;
      last = axis;
      rank = std::max(rank, rank_of(*one));
      ++count;
    }
  }
  if (count == 0 || rank_of(*node.result()) != rank_of(*self) - count + rank) {
    return unsupported(node.op() + " of positions that do not give the axes of the result");
  }
  const bool side_by_side = last - first + 1 == count;
  first = side_by_side ? first : 0;
  StepOperand operand{operand_index(node, self)};
  int next = first == 0 ? rank : 0;  // axis of the result
  for (int axis = 0; axis < rank_of(*self); ++axis) {
    const bool is_listed = axis < static_cast<int>(positions->size());
    const ir::Value* one = is_listed ? (*positions)[static_cast<size_t>(axis)] : nullptr;
    if (one != nullptr) {
      operand.lookups.push_back({axis, operand_index(node, one), first, rank, true});
      operand.along.push_back(kLookedUp);
      continue;
    }
    operand.along.push_back(next++);
    next += next == first && first > 0 ? rank : 0;
  }
  return step_reading(node, std::move(operand));
}

// Whether positions below the first extent are also below the second.
bool is_known_within(const ir::Extent& read, const ir::Extent& extent) {
  return read.provably_equals(extent) || (read.is_known() && extent.is_known() && read.known() <= extent.known());
}

}  // namespace

Result<ElementStep> lookup_step(const ir::Node& node, const optable::OpInfo& op) {
  switch (op.index_map) {
    case IndexMap::kEmbedding:
      return embedding(node);
    case IndexMap::kIndexSelect:
      return index_select(node);
    case IndexMap::kGather:
      return gather(node);
    case IndexMap::kIndex:
      return index(node);
    default:
      return internal(node.op() + " looks nothing up");
  }
}

Result<LoopAccess> looked_up_access(const ir::Node& node, const StepOperand& operand) {
  const ir::TensorType& type = node.operand(operand.index)->type();
  const ir::Shape& shape = node.result()->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<SizeExpr> strides, stride_exprs(type));
  LoopAccess access;
  access.strides.assign(shape.size(), SizeExpr::of_constant(0));
  for (size_t axis = 0; axis < type.shape.size(); ++axis) {
    const int along = operand.along[axis];
    if (along == kLookedUp) {
      continue;
    }
    if (along >= static_cast<int>(shape.size()) ||
        !is_known_within(shape[static_cast<size_t>(along)], type.shape[axis])) {
      return unsupported("axis " + std::to_string(axis) + " of a tensor of type " + type.to_string() +
                         " is not known to have the positions that " + node.result()->type().to_string() + " reads");
    }
    access.strides[static_cast<size_t>(along)] = normalize(strides[axis]);
  }
  return access;
}

Result<LoopAccess> position_access(const ir::Node& node, const Lookup& lookup) {
  const ir::Shape& shape = node.result()->type().shape;
  const auto begin = shape.begin() + lookup.first;
  if (lookup.first + lookup.rank > static_cast<int>(shape.size())) {
    return unsupported("the positions have axes that the result has not");
  }
  TESSIQ_ASSIGN_OR_RETURN(LoopAccess access,
                          loop_access(node.operand(lookup.index)->type(), ir::Shape(begin, begin + lookup.rank)));
  const SizeExpr zero = SizeExpr::of_constant(0);
  access.strides.insert(access.strides.begin(), static_cast<size_t>(lookup.first), zero);
  access.strides.resize(shape.size(), zero);
  return access;
}

}  // namespace tessiq::analysis
