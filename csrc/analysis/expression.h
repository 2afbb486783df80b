// The small language of the operation table, read into a tree and evaluated without a compiler.
//
// Decides what an expression computes for one element, following csrc/optable/intrinsics.md. It is the oracle of the
// tests: what an emitter writes for the same expression has to give the same numbers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/scalar.h"
#include "support/result.h"

namespace tessiq::analysis {

struct Expression {
  enum class Kind { kArgument, kLiteral, kUnary, kBinary, kSelect, kCall };

  Kind kind = Kind::kLiteral;
  int argument = 0;               // kArgument
  double literal = 0;             // kLiteral
  std::string name;               // the operator or the function
  std::vector<Expression> parts;  // operands; condition, then, else of a select
};

// kInvalidArgument with the place of the first thing that is not in the language. Casts to scalar_t vanish: every part
// of a tree is of that type.
Result<Expression> parse_expression(std::string_view text);

// How many operations of the tree round a float. With more than one, a compiler may contract them and give other bits.
int rounding_operations(const Expression& expression);
// Whether every function the tree calls is exact or correctly rounded, so that every machine gives the same bits.
bool is_reproducible(const Expression& expression);

// Requires arguments of type `compute`, which is no half type, one for each number the expression reads.
// kInvalidArgument where it reads more, or calls a function that `compute` does not have.
Result<Scalar> evaluate(const Expression& expression, ir::ElementType compute, std::span<const Scalar> arguments);

}  // namespace tessiq::analysis
