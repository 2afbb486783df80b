// Every member computes at the positions of one list of axes of the space: all of them, or the kept ones alone. An
// operand is read where its axes, aligned at the last one, are those of its reader.
#include "analysis/row_space.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "analysis/decisions.h"
#include "analysis/element_step.h"
#include "analysis/lookups.h"
#include "analysis/loop_space.h"
#include "analysis/reduction.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

using Axes = std::vector<size_t>;  // of the space, one an axis of a tensor

class Builder {
 public:
  Builder(const ir::Graph& graph, std::span<const ir::Node* const> members) : graph_(graph), nodes_(members) {}

  Result<RowSpace> build() && {
    TESSIQ_RETURN_IF_ERROR(find_space());
    for (const ir::Node* node : nodes_) {
      const optable::OpInfo& op = *optable::find_op(node->op());
      TESSIQ_RETURN_IF_ERROR(op.is_reduction() ? add_reduction(*node, op) : add_loop(*node, op));
    }
    for (const ir::Node* node : nodes_) {
      TESSIQ_RETURN_IF_ERROR(add_output(*node));
    }
    return std::move(space_);
  }

 private:
  bool is_member(const ir::Node* node) const { return std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end(); }

  Result<void> find_space() {
    for (const ir::Node* node : nodes_) {
      const optable::OpInfo* op = optable::find_op(node->op());
      if (op == nullptr || (!op->is_reduction() && !op->is_loop()) || node->result_count() != 1) {
        return unsupported(node->op() + " is computed neither by a loop nor by a reduction");
      }
      if (!op->is_reduction() || !space_.shape.empty()) {
        continue;
      }
      TESSIQ_ASSIGN_OR_RETURN(const Reduction reduction, reduction_of(*node, *op));
      space_.shape = node->operand(0)->type().shape;
      space_.reduced = reduction.reduced;
    }
    for (size_t axis = 0; axis < space_.shape.size(); ++axis) {
      all_axes_.push_back(axis);
      const bool is_reduced = space_.reduced[axis] != 0;
      row_shape_.push_back(is_reduced ? ir::Extent(1) : space_.shape[axis]);
      if (!is_reduced) {
        kept_axes_.push_back(axis);
        kept_shape_.push_back(space_.shape[axis]);
      }
    }
    return {};
  }

  Result<void> add_reduction(const ir::Node& node, const optable::OpInfo& op) {
    TESSIQ_ASSIGN_OR_RETURN(const Reduction reduction, reduction_of(node, op));
    const ir::Value& operand = *node.operand(0);
    if (!same_shape(operand.type().shape, space_.shape) || reduction.reduced != space_.reduced) {
      return unsupported(node.op() + " reduces other elements");
    }
    TESSIQ_ASSIGN_OR_RETURN(const int ready, read(operand, all_axes_, false));
    const auto producer = member_of(operand);
    if (producer != nullptr && producer->per_row) {
      return unsupported(node.op() + " reduces what has one element a row");
    }
    axes_of_[&node] = reduction.keeps_axes ? all_axes_ : kept_axes_;
    space_.members.push_back({&node, true, ready + 1});
    space_.walks = std::max(space_.walks, ready + 1);
    return {};
  }

  Result<void> add_loop(const ir::Node& node, const optable::OpInfo& op) {
    const ir::Shape& shape = node.result()->type().shape;
    const bool full = same_shape(shape, space_.shape);
    const bool row = !full && same_shape(shape, row_shape_);
    if (!full && !row && !same_shape(shape, kept_shape_)) {
      return unsupported(node.op() + " computes neither an element nor a row");
    }
    const Axes& axes = full || row ? all_axes_ : kept_axes_;
    if (op.index_map != optable::IndexMap::kNone && !op.looks_up()) {
      return unsupported(node.op() + " reads or counts positions other than its own");
    }
    TESSIQ_ASSIGN_OR_RETURN(const ElementStep step, element_step(node, op));
    int ready = 0;
    for (const StepArgument& argument : step.arguments) {
      const auto* operand = std::get_if<StepOperand>(&argument);
      if (operand != nullptr && !operand->lookups.empty()) {
        TESSIQ_RETURN_IF_ERROR(look_up(node, *operand, axes, !full));
      } else if (operand != nullptr) {
        TESSIQ_ASSIGN_OR_RETURN(const int walk, read(*node.operand(operand->index), axes, !full));
        ready = std::max(ready, walk);
      }
    }
    axes_of_[&node] = axes;
    space_.members.push_back({&node, !full, ready});
    space_.walks = std::max(space_.walks, full ? ready + 1 : 1);
    return {};
  }

  const RowMember* member_of(const ir::Value& value) const {
    const auto found = std::find_if(space_.members.begin(), space_.members.end(), [&](const RowMember& member) {
      return !value.is_parameter() && member.node == value.producer();
    });
    return found == space_.members.end() ? nullptr : &*found;
  }

  // The walk after which the operand can be read by a member that runs over `reader`.
  Result<int> read(const ir::Value& operand, const Axes& reader, bool per_row) {
    if (is_inlined(operand)) {
      return 0;
    }
    const size_t rank = operand.type().shape.size();
    if (rank > reader.size()) {
      return unsupported("%" + operand.name() + " has more axes than its reader");
    }
    if (!operand.is_parameter() && is_member(operand.producer())) {
      const RowMember* producer = member_of(operand);
      const Axes& axes = axes_of_.at(operand.producer());
      for (size_t axis = 0; axis < rank; ++axis) {
        if (!operand.type().shape[axis].is(1) && axes[axis] != reader[reader.size() - rank + axis]) {
          return unsupported("%" + operand.name() + " is read at other positions than it was computed at");
        }
      }
      if (per_row && !producer->per_row) {
        return unsupported("%" + operand.name() + " has an element where its reader has a row");
      }
      return producer->walk;
    }
    ir::Shape read_shape;
    for (const size_t axis : reader) {
      read_shape.push_back(per_row && space_.reduced[axis] != 0 ? ir::Extent(1) : space_.shape[axis]);
    }
    TESSIQ_ASSIGN_OR_RETURN(const LoopAccess access, loop_access(operand.type(), read_shape));
    const auto added = add_input(operand, scattered(access, reader), per_row || is_per_row(operand, reader));
    return added ? Result<int>(0) : added.error();
  }

  bool is_computed(const ir::Value& value) const { return !value.is_parameter() && is_member(value.producer()); }

  // What is looked up lies in memory, and is at one position of its axis all along a row.
  Result<void> look_up(const ir::Node& node, const StepOperand& operand, const Axes& reader, bool per_row) {
    const ir::Value& value = *node.operand(operand.index);
    TESSIQ_ASSIGN_OR_RETURN(const LoopAccess access, looked_up_access(node, operand));
    TESSIQ_ASSIGN_OR_RETURN(const std::vector<ir::SizeExpr> strides, stride_exprs(value.type()));
    std::vector<RowLookup> lookups;
    for (const Lookup& lookup : operand.lookups) {
      const ir::Value& positions = *node.operand(lookup.index);
      if (is_computed(value) || is_computed(positions)) {
        return unsupported("%" + value.name() + " is looked up where it or its positions are computed");
      }
      TESSIQ_ASSIGN_OR_RETURN(const LoopAccess held, position_access(node, lookup));
      const LoopAccess of_row = scattered(held, reader);
      for (size_t axis = 0; axis < space_.shape.size(); ++axis) {
        if (space_.reduced[axis] != 0 && of_row.strides[axis] != ir::SizeExpr::of_constant(0)) {
          return unsupported("%" + value.name() + " is looked up at a position an element");
        }
      }
      TESSIQ_ASSIGN_OR_RETURN(const size_t input, add_input(positions, of_row, true));
      const auto axis = static_cast<size_t>(lookup.axis);
      TESSIQ_ASSIGN_OR_RETURN(const ir::SizeExpr extent, to_expr(value.type().shape[axis]));
      lookups.push_back({input, normalize(strides[axis]), extent, lookup.wraps});
    }
    const auto added = add_input(value, scattered(access, reader), per_row, std::move(lookups));
    return added ? Result<void>() : added.error();
  }

  bool is_per_row(const ir::Value& operand, const Axes& reader) const {
    const ir::Shape& shape = operand.type().shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const size_t position = reader[reader.size() - shape.size() + axis];
      if (space_.reduced[position] != 0 && !shape[axis].is(1)) {
        return false;
      }
    }
    // Where a row has one element, an element and a row are the same; an element it is.
    return !same_shape(row_shape_, space_.shape);
  }

  LoopAccess scattered(const LoopAccess& access, const Axes& axes) const {
    LoopAccess result;
    result.strides.assign(space_.shape.size(), ir::SizeExpr::of_constant(0));
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      result.strides[axes[axis]] = access.strides[axis];
    }
    return result;
  }

  // Its place among the inputs.
  Result<size_t> add_input(const ir::Value& value, LoopAccess access, bool per_row,
                           std::vector<RowLookup> lookups = {}) {
    for (size_t k = 0; k < space_.inputs.size(); ++k) {
      const RowTensor& input = space_.inputs[k];
      if (input.value != &value) {
        continue;
      }
      if (input.per_row != per_row || input.access.strides != access.strides || input.lookups != lookups) {
        return unsupported("%" + value.name() + " is read in two ways");
      }
      return k;
    }
    space_.inputs.push_back({&value, std::move(access), per_row, std::move(lookups)});
    return space_.inputs.size() - 1;
  }

  Result<void> add_output(const ir::Node& node) {
    const ir::Value& value = *node.result();
    const bool read_outside =
        std::any_of(value.uses().begin(), value.uses().end(), [&](const ir::Use& use) { return !is_member(use.node); });
    if (!read_outside && !graph_.is_result(&value)) {
      return {};
    }
    TESSIQ_ASSIGN_OR_RETURN(const LoopAccess access, loop_access(value.type(), value.type().shape));
    const RowMember& member = *member_of(value);
    space_.outputs.push_back({&value, scattered(access, axes_of_.at(&node)), member.per_row});
    return {};
  }

  const ir::Graph& graph_;
  std::span<const ir::Node* const> nodes_;
  RowSpace space_;
  Axes all_axes_;
  Axes kept_axes_;
  ir::Shape row_shape_;                      // 1 in place of the reduced axes
  ir::Shape kept_shape_;                     // without them
  std::map<const ir::Node*, Axes> axes_of_;  // never iterated
};

}  // namespace

bool reduces_neighbours(const RowSpace& space) {
  auto steps_by_one = [](const ir::SizeExpr& stride) {
    return stride.kind == ir::SizeExpr::Kind::kConstant && stride.constant == 1;
  };
  for (const RowTensor& input : space.inputs) {
    for (size_t axis = 0; axis < space.shape.size() && !input.per_row; ++axis) {
      if (steps_by_one(input.access.strides[axis]) && !space.shape[axis].is(1)) {
        return space.reduced[axis] != 0;
      }
    }
  }
  return true;
}

Result<RowSpace> row_space(const ir::Graph& graph, std::span<const ir::Node* const> members) {
  return Builder(graph, members).build();
}

}  // namespace tessiq::analysis
