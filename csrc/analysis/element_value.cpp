// Converts a step's arguments, evaluates its expression, converts the result.
#include "analysis/element_value.h"

#include <utility>

#include "analysis/effects.h"
#include "analysis/expression.h"

namespace tessiq::analysis {
namespace {

Result<Scalar> converted(const std::optional<Scalar>& scalar) {
  if (!scalar) {
    return unsupported("a float that no 64-bit integer holds is converted to an integer");
  }
  return *scalar;
}

Result<Scalar> number_of(const StepArgument& argument, std::span<const Scalar> operands, const SymbolValues& value_of) {
  if (const auto* operand = std::get_if<StepOperand>(&argument)) {
    if (operand->index < 0 || static_cast<size_t>(operand->index) >= operands.size()) {
      return internal("a step reads operand " + std::to_string(operand->index) + " of " +
                      std::to_string(operands.size()));
    }
    if (!operand->lookups.empty()) {
      return unsupported("where it is read is known in the call alone");
    }
    return operands[static_cast<size_t>(operand->index)];
  }
  if (const auto* size = std::get_if<ir::SizeExpr>(&argument)) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t value, size->evaluate(value_of));
    return Scalar::of_integer(value, ir::ElementType::kInt64);
  }
  if (const bool* value = std::get_if<bool>(&argument)) {
    return Scalar::of_integer(*value ? 1 : 0, ir::ElementType::kBool);
  }
  if (const int64_t* value = std::get_if<int64_t>(&argument)) {
    return Scalar::of_integer(*value, ir::ElementType::kInt64);
  }
  if (const double* value = std::get_if<double>(&argument)) {
    return Scalar::of_float(*value, ir::ElementType::kFloat64);
  }
  return unsupported("the value depends on the position");
}

}  // namespace

Result<Scalar> evaluate_element(const ElementStep& step, std::span<const Scalar> operands,
                                const SymbolValues& value_of) {
  TESSIQ_ASSIGN_OR_RETURN(const Expression expression, parse_expression(step.expression));
  std::vector<Scalar> arguments;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    TESSIQ_ASSIGN_OR_RETURN(Scalar number, number_of(step.arguments[i], operands, value_of));
    if (((step.bool_arguments >> i) & 1U) != 0) {
      TESSIQ_ASSIGN_OR_RETURN(number, converted(number.convert(ir::ElementType::kBool)));
    }
    TESSIQ_ASSIGN_OR_RETURN(number, converted(number.convert(step.compute)));
    arguments.push_back(number);
  }
  TESSIQ_ASSIGN_OR_RETURN(const Scalar result, evaluate(expression, step.compute, arguments));
  return converted(result.convert(step.element));
}

std::optional<Scalar> splat_value(const ir::Value& value) {
  const ir::Node* node = value.producer();
  if (node == nullptr || !node->operands().empty() || node->result_count() != 1 || !is_pure(*node)) {
    return std::nullopt;
  }
  const optable::OpInfo* op = optable::find_op(node->op());
  if (op == nullptr || !op->is_loop()) {
    return std::nullopt;
  }
  const Result<ElementStep> step = element_step(*node, *op);
  if (!step) {
    return std::nullopt;
  }
  const Result<Scalar> scalar = evaluate_element(*step, {}, [](std::string_view) { return std::nullopt; });
  return scalar ? std::optional(*scalar) : std::nullopt;
}

}  // namespace tessiq::analysis
