// A fusion group -> the description of its loop. Shapes, reads and arithmetic are asked of analysis; what is decided
// here is which values the loop reads and writes, and the order it walks their axes in.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/decisions.h"
#include "analysis/element_step.h"
#include "analysis/loop_access.h"
#include "analysis/reduction.h"
#include "analysis/row_space.h"
#include "analysis/size_algebra.h"
#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/spelling.h"
#include "optable/lookup.h"

namespace tessiq::emit {
namespace {

std::vector<const ir::Node*> members_of(const ir::Graph& graph, int64_t group) {
  std::vector<const ir::Node*> members;
  for (const auto& node : graph.nodes()) {
    if (analysis::group_of(*node) == group) {
      members.push_back(node.get());
    }
  }
  return members;
}

LoopArgument size_argument(const ir::SizeExpr& size) {
  const ir::SizeExpr normal = analysis::normalize(size);
  if (normal.kind == ir::SizeExpr::Kind::kConstant) {
    return LoopConstant{normal.constant};
  }
  return LoopSymbol{normal};
}

LoopArgument loop_argument(const ir::Node& node, const analysis::StepArgument& argument) {
  if (const auto* operand = std::get_if<analysis::StepOperand>(&argument)) {
    return LoopRead{node.operand(operand->index)->name()};
  }
  if (const auto* size = std::get_if<ir::SizeExpr>(&argument)) {
    return size_argument(*size);
  }
  if (const auto* flag = std::get_if<bool>(&argument)) {
    return LoopConstant{*flag};
  }
  if (const auto* integer = std::get_if<int64_t>(&argument)) {
    return LoopConstant{*integer};
  }
  return LoopConstant{std::get<double>(argument)};
}

Result<LoopStep> loop_step(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr || !op->is_loop() || node.result_count() != 1) {
    return internal(std::string(node.name()) + ": " + node.op() + " is in a fusion group and has no expression");
  }
  auto element_step = analysis::element_step(node, *op);
  if (!element_step) {
    return internal(std::string(node.name()) + ": claimed, but " + element_step.error().message());
  }
  LoopStep step;
  step.value = node.result()->name();
  step.op = op->name;
  step.expression = std::move(element_step->expression);
  step.compute = element_step->compute;
  step.element = element_step->element;
  step.bool_arguments = element_step->bool_arguments;
  step.rounds = element_step->rounds;
  for (const analysis::StepArgument& argument : element_step->arguments) {
    step.arguments.push_back(loop_argument(node, argument));
  }
  return step;
}

class Description {
 public:
  Description(const ir::Graph& graph, std::vector<const ir::Node*> members)
      : graph_(graph), members_(std::move(members)) {}

  Result<LoopKernel> build() && {
    for (const ir::Node* node : members_) {
      TESSIQ_RETURN_IF_ERROR(add_step(*node));
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

  Result<void> add_step(const ir::Node& node) {
    TESSIQ_ASSIGN_OR_RETURN(LoopStep step, loop_step(node));
    for (const LoopArgument& argument : step.arguments) {
      const auto* read = std::get_if<LoopRead>(&argument);
      const ir::Value* value = read == nullptr ? nullptr : graph_.find_value(read->value);
      if (value == nullptr || (!value->is_parameter() && is_member(value->producer()))) {
        continue;
      }
      if (std::find(inputs_.begin(), inputs_.end(), value) == inputs_.end()) {
        inputs_.push_back(value);
      }
    }
    kernel_.steps.push_back(std::move(step));
    return {};
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
    const ir::Shape& shape = outputs_.back()->type().shape;
    std::vector<analysis::LoopAccess> accesses;
    for (const std::vector<const ir::Value*>* values : {&inputs_, &outputs_}) {
      for (const ir::Value* value : *values) {
        auto access = analysis::loop_access(value->type(), shape);
        if (!access) {
          return internal(value->name() + ": fused, but " + access.error().message());
        }
        accesses.push_back(*std::move(access));
      }
    }
    const ir::Shape walked = order_axes(shape, accesses);
    kernel_.extents = analysis::collapse(walked, accesses);
    for (size_t i = 0; i < accesses.size(); ++i) {
      const bool is_input = i < inputs_.size();
      const ir::Value* value = is_input ? inputs_[i] : outputs_[i - inputs_.size()];
      LoopTensor tensor{value->name(), value->type().element, std::move(accesses[i].strides)};
      (is_input ? kernel_.inputs : kernel_.outputs).push_back(std::move(tensor));
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
  std::vector<const ir::Value*> inputs_;  // in the order they are first read
  std::vector<const ir::Value*> outputs_;
  LoopKernel kernel_;
};

// A group with a reduction: the axes that stay come first, then those that go.
class RowDescription {
 public:
  RowDescription(const ir::Graph& graph, std::vector<const ir::Node*> members)
      : graph_(graph), members_(std::move(members)) {}

  Result<LoopKernel> build() && {
    auto space = analysis::row_space(graph_, members_);
    if (!space) {
      return internal("group of " + std::string(members_.back()->name()) + ": fused, but " + space.error().message());
    }
    TESSIQ_RETURN_IF_ERROR(place_tensors(*space));
    for (const analysis::RowMember& member : space->members) {
      TESSIQ_RETURN_IF_ERROR(add_step(member, *space));
    }
    kernel_.name = members_.back()->result()->name();
    return std::move(kernel_);
  }

 private:
  // Axes in the order the program gave them: a position among the reduced elements is one of that order.
  void add_axes(const analysis::RowSpace& space, bool reduced, std::vector<LoopTensor*>& tensors) {
    ir::Shape shape;
    std::vector<analysis::LoopAccess> accesses(tensors.size());
    for (size_t axis = 0; axis < space.shape.size(); ++axis) {
      if ((space.reduced[axis] != 0) != reduced) {
        continue;
      }
      shape.push_back(space.shape[axis]);
      for (size_t i = 0; i < tensors.size(); ++i) {
        const size_t inputs = space.inputs.size();
        const analysis::RowTensor& tensor = i < inputs ? space.inputs[i] : space.outputs[i - inputs];
        accesses[i].strides.push_back(tensor.access.strides[axis]);
      }
    }
    std::vector<ir::SizeExpr> extents = analysis::collapse(shape, accesses);
    if (reduced && extents.empty()) {
      extents.push_back(ir::SizeExpr::of_constant(1));
      for (analysis::LoopAccess& access : accesses) {
        access.strides.push_back(ir::SizeExpr::of_constant(0));
      }
    }
    for (const ir::SizeExpr& extent : extents) {
      kernel_.extents.push_back(extent);
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::vector<ir::SizeExpr>& strides = tensors[i]->strides;
      strides.insert(strides.end(), accesses[i].strides.begin(), accesses[i].strides.end());
    }
    kernel_.reduced_axes = reduced ? static_cast<int>(extents.size()) : 0;
  }

  Result<void> place_tensors(const analysis::RowSpace& space) {
    for (const analysis::RowTensor& input : space.inputs) {
      kernel_.inputs.push_back({input.value->name(), input.value->type().element, {}, input.per_row});
    }
    for (const analysis::RowTensor& output : space.outputs) {
      kernel_.outputs.push_back({output.value->name(), output.value->type().element, {}, output.per_row});
    }
    std::vector<LoopTensor*> tensors;
    for (std::vector<LoopTensor>* list : {&kernel_.inputs, &kernel_.outputs}) {
      for (LoopTensor& tensor : *list) {
        tensors.push_back(&tensor);
      }
    }
    add_axes(space, false, tensors);
    add_axes(space, true, tensors);
    return {};
  }

  Result<void> add_step(const analysis::RowMember& member, const analysis::RowSpace& space) {
    const ir::Node& node = *member.node;
    const optable::OpInfo& op = *optable::find_op(node.op());
    if (!op.is_reduction()) {
      TESSIQ_ASSIGN_OR_RETURN(LoopStep step, loop_step(node));
      step.per_row = member.per_row;
      step.walk = member.walk;
      kernel_.steps.push_back(std::move(step));
      return {};
    }
    TESSIQ_ASSIGN_OR_RETURN(const analysis::Reduction reduction, analysis::reduction_of(node, op));
    LoopStep step;
    step.value = node.result()->name();
    step.op = op.name;
    step.combine = reduction.combine;
    step.compute = value_type(reduction.element);
    step.element = node.result()->type().element;
    step.arguments.emplace_back(LoopRead{node.operand(0)->name()});
    step.per_row = true;
    step.walk = member.walk;
    if (reduction.combine == optable::Combine::kMean) {
      ir::SizeExpr count = ir::SizeExpr::of_constant(1);
      for (size_t axis = 0; axis < space.shape.size(); ++axis) {
        if (reduction.reduced[axis] != 0) {
          TESSIQ_ASSIGN_OR_RETURN(const ir::SizeExpr extent, analysis::to_expr(space.shape[axis]));
          count = analysis::product(count, extent);
        }
      }
      step.arguments.push_back(size_argument(count));
    }
    kernel_.steps.push_back(std::move(step));
    return {};
  }

  const ir::Graph& graph_;
  std::vector<const ir::Node*> members_;
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
    return RowDescription(graph, std::move(members)).build();
  }
  return Description(graph, std::move(members)).build();
}

}  // namespace tessiq::emit
