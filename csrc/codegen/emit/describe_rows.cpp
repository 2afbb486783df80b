// A group with a reduction -> the description of its rows: the axes that stay come first, then those that go.
#include <utility>

#include "analysis/decisions.h"
#include "analysis/reduction.h"
#include "analysis/row_space.h"
#include "analysis/size_algebra.h"
#include "codegen/emit/loop_steps.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

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
      LoopTensor& tensor =
          kernel_.inputs.emplace_back(LoopTensor{input.value->name(), input.value->type().element, {}, input.per_row});
      for (const analysis::RowLookup& lookup : input.lookups) {
        tensor.lookups.push_back({static_cast<int>(lookup.positions), lookup.stride, lookup.extent, lookup.wraps});
      }
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
      auto argument_of = [&](const analysis::StepArgument& argument) -> Result<LoopArgument> {
        const auto* operand = std::get_if<analysis::StepOperand>(&argument);
        if (operand == nullptr) {
          return number_argument(argument);
        }
        const ir::Value& value = *node.operand(operand->index);
        return analysis::is_inlined(value) ? inlined_argument(value) : LoopArgument(LoopRead{value.name()});
      };
      TESSIQ_ASSIGN_OR_RETURN(LoopStep step, loop_step(node, argument_of));
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

}  // namespace

Result<LoopKernel> describe_rows(const ir::Graph& graph, std::vector<const ir::Node*> members) {
  return RowDescription(graph, std::move(members)).build();
}

}  // namespace tessiq::emit
