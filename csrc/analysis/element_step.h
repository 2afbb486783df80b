// What one node computes at one position of a loop. Claiming asks whether there is an answer, emission what it is.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "optable/lookup.h"
#include "support/result.h"

namespace tessiq::analysis {

struct StepOperand {
  int index = 0;  // of the node
};
// A constant keeps the type the graph gave it; an expression over sizes is an integer that comes with the call.
using StepArgument = std::variant<StepOperand, bool, int64_t, double, ir::SizeExpr>;

struct ElementStep {
  // Over $0, $1, ... and nothing else: the case is chosen, and named parameters are arguments after the positional
  // ones.
  std::string expression;
  std::vector<StepArgument> arguments;  // one a number in the expression; those it does not read are 0
  ir::ElementType operates_on = ir::ElementType::kFloat32;  // as PyTorch promotes; what a row's element_types restrict
  ir::ElementType compute = ir::ElementType::kFloat32;      // the same with half types widened to float32
  ir::ElementType element = ir::ElementType::kFloat32;      // of the result
  uint32_t bool_arguments = 0;                              // bit i: argument i becomes bool instead of `compute`
  bool rounds = false;
};

// Requires op.is_loop() and one result. kUnsupported where an argument is not understood: a keyword the row does not
// name, a value no case covers, a list, a string, an unknown size.
Result<ElementStep> element_step(const ir::Node& node, const optable::OpInfo& op);

// PyTorch's promotion: tensors with axes before scalars before Python numbers, each only where its kind is higher.
// `node` has at least one operand or number.
ir::ElementType promoted_type(const ir::Node& node);

}  // namespace tessiq::analysis
