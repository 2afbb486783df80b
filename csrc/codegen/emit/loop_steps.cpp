#include "codegen/emit/loop_steps.h"

#include <optional>
#include <string>
#include <utility>

#include "analysis/element_value.h"
#include "analysis/size_algebra.h"

namespace tessiq::emit {

LoopArgument size_argument(const ir::SizeExpr& size) {
  const ir::SizeExpr normal = analysis::normalize(size);
  if (normal.kind == ir::SizeExpr::Kind::kConstant) {
    return LoopConstant{normal.constant};
  }
  return LoopSymbol{normal};
}

LoopArgument number_argument(const analysis::StepArgument& argument) {
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

Result<LoopArgument> inlined_argument(const ir::Value& value) {
  const std::optional<analysis::Scalar> scalar = analysis::splat_value(value);
  if (!scalar) {
    return internal(value.name() + " is inlined, and is no number known before the call");
  }
  const ir::Attribute number = scalar->to_attribute();
  if (const auto* flag = std::get_if<bool>(&number)) {
    return LoopArgument(LoopConstant{*flag});
  }
  if (const auto* integer = std::get_if<int64_t>(&number)) {
    return LoopArgument(LoopConstant{*integer});
  }
  return LoopArgument(LoopConstant{std::get<double>(number)});
}

Result<LoopStep> loop_step(const ir::Node& node, const ArgumentOf& argument_of) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr || !op->is_loop() || node.result_count() != 1) {
    return internal(std::string(node.name()) + ": " + node.op() + " is in a fusion group and no loop computes it");
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
    TESSIQ_ASSIGN_OR_RETURN(LoopArgument loop_argument, argument_of(argument));
    step.arguments.push_back(std::move(loop_argument));
  }
  return step;
}

}  // namespace tessiq::emit
