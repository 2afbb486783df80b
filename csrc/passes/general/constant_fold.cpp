// Constant folding: a loop over nothing but constants becomes a `full` of the number it computes.
//
// Requires: nothing beyond a verified graph. Pays off before dce, which removes what is no longer read.
// Guarantees: no read or returned node computes, from operands that each hold one known number, a number that every
//   machine agrees on. The new node stands before the one it replaces, so that definitions still come first.
// Legal because: only expressions of exact or correctly rounded operations are folded, in the type the step computes
// in,
//   and of those that round only one: a compiler may contract two into a fused one and give other bits. exp(0) stays.
//   A NaN is not folded either: machines give it other signs, which signbit and copysign read.
// Stops holding when: generated code is compiled with approximate division or square root, or flushes subnormals.
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/effects.h"
#include "analysis/element_value.h"
#include "analysis/expression.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// A new `full` can state the result's type: packed, and every extent a number or a symbol.
bool can_be_filled(const ir::TensorType& type) {
  return type.is_packed() && std::none_of(type.shape.begin(), type.shape.end(),
                                          [](const ir::Extent& extent) { return extent.is_unknown(); });
}

bool is_exact_anywhere(const analysis::ElementStep& step) {
  const Result<analysis::Expression> expression = analysis::parse_expression(step.expression);
  return expression && analysis::is_reproducible(*expression) &&
         (!ir::is_floating(step.compute) || analysis::rounding_operations(*expression) <= 1);
}

// Nothing where the node is not to be folded.
std::optional<analysis::Scalar> folded(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr || !op->is_loop() || !analysis::is_pure(node) || node.operands().empty() ||
      node.result_count() != 1 || !can_be_filled(node.result()->type())) {
    return std::nullopt;
  }
  std::vector<analysis::Scalar> operands;
  for (const ir::Value* operand : node.operands()) {
    const std::optional<analysis::Scalar> value = analysis::splat_value(*operand);
    if (!value) {
      return std::nullopt;
    }
    operands.push_back(*value);
  }
  const Result<analysis::ElementStep> step = analysis::element_step(node, *op);
  if (!step || !is_exact_anywhere(*step)) {
    return std::nullopt;
  }
  // A symbol's value comes with the call.
  const auto value = analysis::evaluate_element(*step, operands, [](std::string_view) { return std::nullopt; });
  return value && !std::isnan(value->as_float()) ? std::optional(*value) : std::nullopt;
}

class ConstantFold : public Pass {
 public:
  std::string_view name() const override { return "constant-fold"; }
  std::string_view description() const override { return "replaces loops over constants by the number they compute"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      const bool is_read =
          node->result_count() == 1 && (!node->result()->uses().empty() || graph.is_result(node->result()));
      const std::optional<analysis::Scalar> value = is_read ? folded(*node) : std::nullopt;
      if (!value) {
        continue;
      }
      ir::Value* result = node->result();
      ir::AttributeMap attributes = {{"0", ir::SizeList(result->type().shape)}, {"1", value->to_attribute()}};
      std::vector<ir::ResultSpec> results = {{graph.unique_name(result->name()), result->type()}};
      TESSIQ_ASSIGN_OR_RETURN(ir::Node* const constant,
                              graph.add_node("full", {}, std::move(attributes), std::move(results), node.get()));
      constant->set_location(node->location());
      changed |= graph.replace_all_uses(result, constant->result());
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(ConstantFold);

}  // namespace
}  // namespace tessiq::passes
