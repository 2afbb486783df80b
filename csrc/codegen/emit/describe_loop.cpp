// A fusion group -> the description of its loop. Shapes, reads and arithmetic are asked of analysis; what is decided
// here is which values the loop reads and writes, and the order it walks their axes in.
#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/decisions.h"
#include "analysis/index_map.h"
#include "analysis/lookups.h"
#include "analysis/loop_space.h"
#include "analysis/size_algebra.h"
#include "codegen/emit/loop_steps.h"

namespace tessiq::emit {
namespace {

using ir::SizeExpr;

std::vector<const ir::Node*> members_of(const ir::Graph& graph, int64_t group) {
  std::vector<const ir::Node*> members;
  for (const auto& node : graph.nodes()) {
    if (analysis::group_of(*node) == group) {
      members.push_back(node.get());
    }
  }
  return members;
}

struct Input {
  const ir::Value* value = nullptr;
  LoopTensor tensor;  // strides along the axes of the loop before any is merged
};

class Description {
 public:
  Description(const ir::Graph& graph, std::vector<const ir::Node*> members)
      : graph_(graph), members_(std::move(members)) {}

  Result<LoopKernel> build() && {
    auto space = analysis::loop_space(graph_, members_);
    if (!space) {
      return internal("group of " + std::string(members_.back()->name()) + ": fused, but " + space.error().message());
    }
    shape_ = std::move(space->shape);
    for (size_t index = 0; index < members_.size(); ++index) {
      const ir::Node& node = *members_[index];
      auto argument_of = [&](const analysis::StepArgument& argument) {
        return loop_argument(node, argument, space->frames[index]);
      };
      TESSIQ_ASSIGN_OR_RETURN(LoopStep step, loop_step(node, argument_of));
      kernel_.steps.push_back(std::move(step));
    }
    collect_outputs();
    if (outputs_.empty()) {
      return internal("group of " + std::string(members_.back()->name()) + ": nothing reads its results");
    }
    TESSIQ_RETURN_IF_ERROR(place_tensors());
    kernel_.name = outputs_.back()->name();
    return std::move(kernel_);
  }

 private:
  bool is_member(const ir::Node* node) const {
    return std::find(members_.begin(), members_.end(), node) != members_.end();
  }
  bool is_computed(const ir::Value& value) const { return !value.is_parameter() && is_member(value.producer()); }

  Result<LoopArgument> loop_argument(const ir::Node& node, const analysis::StepArgument& argument,
                                     const analysis::LoopFrame& frame) {
    if (const auto* operand = std::get_if<analysis::StepOperand>(&argument)) {
      return read(node, *operand, frame);
    }
    if (const auto* inside = std::get_if<analysis::StepInside>(&argument)) {
      LoopInside windows;
      for (const analysis::Window& window : inside->windows) {
        windows.windows.push_back(loop_window(frame.moved(window)));
      }
      return LoopArgument(std::move(windows));
    }
    if (const auto* position = std::get_if<analysis::StepPosition>(&argument)) {
      return LoopArgument(
          LoopPosition{position_along(position->axis), frame.shift[static_cast<size_t>(position->axis)]});
    }
    return number_argument(argument);
  }

  Result<LoopArgument> read(const ir::Node& node, const analysis::StepOperand& operand,
                            const analysis::LoopFrame& reader) {
    const ir::Value& value = *node.operand(operand.index);
    if (is_computed(value)) {
      return LoopArgument(LoopRead{value.name()});
    }
    if (analysis::is_inlined(value)) {
      return inlined_argument(value);
    }
    auto access = analysis::operand_access(node, operand);
    if (!access) {
      return internal(value.name() + ": fused, but " + access.error().message());
    }
    const analysis::LoopFrame frame = reader.within(operand.windows);
    TESSIQ_ASSIGN_OR_RETURN(LoopTensor tensor, tensor_at(value, *std::move(access), frame, operand.reversed));
    for (const analysis::Lookup& lookup : operand.lookups) {
      TESSIQ_ASSIGN_OR_RETURN(LoopLookup read, loop_lookup(node, operand, lookup, frame));
      tensor.lookups.push_back(std::move(read));
    }
    for (const analysis::Window& window : frame.windows) {
      // What is the same all along the axis can be read anywhere.
      if (!tensor.lookups.empty() || tensor.strides[static_cast<size_t>(window.axis)] != SizeExpr::of_constant(0)) {
        tensor.windows.push_back(loop_window(window));
      }
    }
    return LoopArgument(LoopRead{inputs_[add_input(value, std::move(tensor))].tensor.name()});
  }

  Result<LoopLookup> loop_lookup(const ir::Node& node, const analysis::StepOperand& operand,
                                 const analysis::Lookup& lookup, const analysis::LoopFrame& frame) {
    const ir::Value& value = *node.operand(lookup.index);
    auto access = analysis::position_access(node, lookup);
    if (!access) {
      return internal(value.name() + ": fused, but " + access.error().message());
    }
    TESSIQ_ASSIGN_OR_RETURN(LoopTensor tensor, tensor_at(value, *std::move(access), frame, {}));
    for (const analysis::Window& window : frame.windows) {
      if (tensor.strides[static_cast<size_t>(window.axis)] != SizeExpr::of_constant(0)) {
        tensor.windows.push_back(loop_window(window));
      }
    }
    const auto axis = static_cast<size_t>(lookup.axis);
    const ir::TensorType& type = node.operand(operand.index)->type();
    TESSIQ_ASSIGN_OR_RETURN(const std::vector<SizeExpr> strides, analysis::stride_exprs(type));
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, analysis::to_expr(type.shape[axis]));
    const size_t positions = add_input(value, std::move(tensor));
    return LoopLookup{static_cast<int>(positions), analysis::normalize(strides[axis]), extent, lookup.wraps};
  }

  // The tensor as it is read from the frame, but for windows and lookups.
  Result<LoopTensor> tensor_at(const ir::Value& value, analysis::LoopAccess access, const analysis::LoopFrame& frame,
                               const std::vector<int>& reversed) {
    LoopTensor tensor{value.name(), value.type().element, std::move(access.strides)};
    for (size_t axis = 0; axis < tensor.strides.size(); ++axis) {
      SizeExpr first = frame.shift[axis];
      if (std::find(reversed.begin(), reversed.end(), static_cast<int>(axis)) != reversed.end()) {
        TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, analysis::to_expr(value.type().shape[axis]));
        first = analysis::sum(first, analysis::sum(extent, SizeExpr::of_constant(-1)));
      }
      const SizeExpr back = analysis::product(tensor.strides[axis], SizeExpr::of_constant(-1));
      tensor.offset = analysis::sum(tensor.offset, analysis::product(first, back));
    }
    return tensor;
  }

  // Its place in inputs_.
  size_t add_input(const ir::Value& value, LoopTensor tensor) {
    int others = 0;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const LoopTensor& known = inputs_[k].tensor;
      if (inputs_[k].value != &value) {
        continue;
      }
      if (known.strides == tensor.strides && known.offset == tensor.offset && known.windows == tensor.windows &&
          known.lookups == tensor.lookups) {
        return k;
      }
      ++others;
    }
    if (others > 0) {
      tensor.read_as = value.name() + "'" + std::to_string(others);  // no name of a value has an apostrophe
    }
    inputs_.push_back({&value, std::move(tensor)});
    return inputs_.size() - 1;
  }

  int position_along(int axis) {
    const auto found = std::find(position_axes_.begin(), position_axes_.end(), axis);
    const auto index = static_cast<int>(found - position_axes_.begin());
    if (found == position_axes_.end()) {
      position_axes_.push_back(axis);
    }
    return index;
  }

  LoopWindow loop_window(const analysis::Window& window) {
    return {position_along(window.axis), window.begin, window.end};
  }

  // A value is written when somebody outside the loop reads it.
  void collect_outputs() {
    for (const ir::Node* node : members_) {
      const ir::Value* value = node->result();
      const bool read_outside = std::any_of(value->uses().begin(), value->uses().end(),
                                            [&](const ir::Use& use) { return !is_member(use.node); });
      if (read_outside || graph_.is_result(value)) {
        outputs_.push_back(value);
      }
    }
  }

  Result<void> place_tensors() {
    std::vector<analysis::LoopAccess> accesses;
    for (const Input& input : inputs_) {
      accesses.push_back({input.tensor.strides});
    }
    for (const int axis : position_axes_) {
      analysis::LoopAccess& access = accesses.emplace_back();
      access.strides.assign(shape_.size(), SizeExpr::of_constant(0));
      access.strides[static_cast<size_t>(axis)] = SizeExpr::of_constant(1);
    }
    for (const ir::Value* value : outputs_) {
      auto access = analysis::loop_access(value->type(), shape_);
      if (!access) {
        return internal(value->name() + ": fused, but " + access.error().message());
      }
      accesses.push_back(*std::move(access));
    }
    const ir::Shape walked = order_axes(shape_, accesses);
    kernel_.extents = analysis::collapse(walked, accesses);
    auto access = accesses.begin();
    for (Input& input : inputs_) {
      input.tensor.strides = std::move((access++)->strides);
      kernel_.inputs.push_back(std::move(input.tensor));
    }
    for (size_t k = 0; k < position_axes_.size(); ++k) {
      kernel_.positions.push_back(std::move((access++)->strides));
    }
    for (const ir::Value* value : outputs_) {
      kernel_.outputs.push_back({value->name(), value->type().element, std::move((access++)->strides)});
    }
    return {};
  }

  // Axes from the largest stride of the output to the smallest, so that neighbouring elements of the walk lie side by
  // side in memory. Only where every stride is known: a packed output needs no reordering.
  ir::Shape order_axes(const ir::Shape& shape, std::vector<analysis::LoopAccess>& accesses) const {
    const std::vector<ir::SizeExpr>& strides = accesses.back().strides;
    const bool known = std::all_of(strides.begin(), strides.end(), [](const ir::SizeExpr& stride) {
      return stride.kind == ir::SizeExpr::Kind::kConstant;
    });
    if (outputs_.back()->type().is_packed() || !known) {
      return shape;
    }
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return strides[a].constant > strides[b].constant; });
    ir::Shape walked;
    for (const size_t axis : order) {
      walked.push_back(shape[axis]);
    }
    for (analysis::LoopAccess& access : accesses) {
      std::vector<ir::SizeExpr> permuted;
      for (const size_t axis : order) {
        permuted.push_back(access.strides[axis]);
      }
      access.strides = std::move(permuted);
    }
    return walked;
  }

  const ir::Graph& graph_;
  std::vector<const ir::Node*> members_;
  ir::Shape shape_;                 // of the loop
  std::vector<Input> inputs_;       // in the order they are first read
  std::vector<int> position_axes_;  // of the loop's axes, one a position of the kernel
  std::vector<const ir::Value*> outputs_;
  LoopKernel kernel_;
};

bool reduces(const ir::Node* node) {
  const optable::OpInfo* op = optable::find_op(node->op());
  return op != nullptr && op->is_reduction();
}

}  // namespace

Result<LoopKernel> describe_loop(const ir::Graph& graph, int64_t group) {
  std::vector<const ir::Node*> members = members_of(graph, group);
  if (members.empty()) {
    return internal("no node of " + graph.name() + " is in fusion group " + std::to_string(group));
  }
  if (std::any_of(members.begin(), members.end(), reduces)) {
    return describe_rows(graph, std::move(members));
  }
  return Description(graph, std::move(members)).build();
}

}  // namespace tessiq::emit
