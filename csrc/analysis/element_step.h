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

// Positions along one axis of the result, from `begin` up to `end`.
struct Window {
  int axis = 0;
  ir::SizeExpr begin;
  ir::SizeExpr end;

  friend bool operator==(const Window&, const Window&) = default;
};
// An axis of an operand that is read at the position another operand holds.
struct Lookup {
  int axis = 0;   // of the operand that is read
  int index = 0;  // of the node: the operand that holds positions, broadcast over `rank` axes of the result
  int first = 0;  // the first of them
  int rank = 0;
  bool wraps = false;  // a negative position counts from the end; else it is as wrong as one past it
};
// Read at the result's position; or, for rows with an index map, only where that is in every window, at the position
// less each window's begin, and along a reversed axis counted from the end.
struct StepOperand {
  int index = 0;  // of the node
  std::vector<Window> windows = {};
  std::vector<int> reversed = {};
  std::vector<Lookup> lookups = {};
  std::vector<int> along = {};  // with lookups, by axis of the operand: the result's that it is read along, or -1
};
struct StepInside {  // a bool: whether the position is in every window
  std::vector<Window> windows;
};
struct StepPosition {  // an int64: the position along an axis of the result
  int axis = 0;
};
// A constant keeps the type the graph gave it; an expression over sizes is an integer that comes with the call.
using StepArgument = std::variant<StepOperand, bool, int64_t, double, ir::SizeExpr, StepInside, StepPosition>;

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

// The number an attribute is; kUnsupported, with the name of the argument, where it is none.
Result<StepArgument> step_number(const ir::Node& node, std::string_view key, const ir::Attribute& attribute);

// PyTorch's promotion: tensors with axes before scalars before Python numbers, each only where its kind is higher.
// `node` has at least one operand or number.
ir::ElementType promoted_type(const ir::Node& node);

}  // namespace tessiq::analysis
