// What an operation means: one row per operation, read from ops.toml by a generator and looked up by any of its names.
//
// Holds every fact the compiler needs of an operation. Rows that packages add at run time join the same look-up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/element_type.h"
#include "support/result.h"

namespace tessiq::optable {

enum class Category { kElementwise, kReduction, kMovement, kMatmul, kCopy, kConvolution, kCreation, kCustom };

// Pure: the same operands give the same result, and nothing else changes. Random: draws numbers, so never merged,
// dropped or reordered against another. Writes: changes an operand or the world.
enum class Effects { kPure, kRandom, kWrites };

// The type an elementwise operation computes in. kResult: every argument is converted to the result's type first.
// kOperands: to the promoted type of the tensor operands (comparisons, whose result is bool). For both, half types
// compute in float32.
enum class ComputeType { kResult, kOperands };

// How a reduction combines two elements. Mean: the sum, divided by the number of elements. Arg: the position of the
// extreme among the reduced elements, the first of several; NaN is more extreme than any number.
enum class Combine { kNone, kSum, kMean, kProduct, kMaximum, kMinimum, kArgMaximum, kArgMinimum, kAny, kAll };

// Which positions an operation reads or counts beyond its own: the rows without an expression that a loop computes all
// the same (analysis/index_map.h).
enum class IndexMap {
  kNone,
  kArange,
  kConcatenate,
  kFlip,
  kPad,
  kSliceScatter,
  kEmbedding,  // from here on: elements whose positions another operand holds
  kIndexSelect,
  kGather,
  kIndex,
};

// A constant that the expression reads by name ("$alpha"), with the value it has when absent. In a call it is a
// keyword, or stands after the positional arguments: parameter i is also argument arity + i.
struct ScalarParameter {
  std::string_view name;
  double default_value = 0;
};

// A condition on one argument, by position ("1") or keyword. Absent: not given, None or False. Present: anything else.
struct Condition {
  enum class Test { kAbsent, kPresent, kNumber, kText };
  std::string_view key = {};
  Test test = Test::kAbsent;
  double number = 0;
  std::string_view text = {};
};

// Rows whose expression depends on a constant argument (rounding_mode, approximate, which bound of clamp is there): the
// first case that holds is what the operation computes; where none holds, nothing of ours computes it.
struct ExpressionCase {
  std::vector<Condition> when = {};
  std::string_view expression = {};
};

// Of a custom operation: the argument at this position keeps an element type of its own.
struct ArgumentType {
  int position = 0;
  ir::ElementType type = ir::ElementType::kInt64;
};

struct OpInfo {
  std::string_view name = {};               // the short spelling: "add"
  std::vector<std::string_view> aten = {};  // PyTorch's: "aten.add.Tensor"
  Category category = Category::kElementwise;
  Effects effects = Effects::kPure;
  int arity = 0;  // arguments the expression takes, constants among them
  // C++ over $0, $1, ... and $name, in a scalar type called scalar_t; every literal written scalar_t(...).
  // Read through analysis::element_step, which applies `cases`; empty where a row has cases.
  std::string_view expression = {};
  std::vector<ExpressionCase> cases = {};
  ComputeType compute = ComputeType::kResult;
  uint32_t bool_arguments = 0;  // bit i: argument i is converted to bool (the condition of where)
  bool kernel = false;          // the backend has a kernel for it
  // Bit per ir::ElementType. Loops: the types it may compute in, half types counted as themselves; a loop reads and
  // writes any type. Other kernels: the types of every operand and result.
  uint32_t element_types = 0;
  std::vector<ScalarParameter> parameters = {};  // what the kernel understands beyond positional tensors and constants
  bool commutative = false;
  bool rounds = false;               // the result is rounded to its type even inside a loop: an explicit cast
  Combine combine = Combine::kNone;  // of a reduction the backend runs
  IndexMap index_map = IndexMap::kNone;
  std::vector<ArgumentType> argument_types = {};  // custom operations; the others have operand 0's type
  // Keyword arguments that do not change what is computed ("dtype" where the result type already says it).
  std::vector<std::string_view> ignored_keywords = {};

  // Each element from the elements at its own position: elementwise operations, copies, fills.
  bool has_expression() const { return !expression.empty() || !cases.empty(); }
  // One loop computes it.
  bool is_loop() const { return has_expression() || index_map != IndexMap::kNone; }
  // Where it reads depends on the elements of an operand, so that all of its operands have to lie in memory.
  bool looks_up() const { return index_map >= IndexMap::kEmbedding; }
  bool is_reduction() const { return combine != Combine::kNone; }
  bool accepts(ir::ElementType type) const { return ((element_types >> static_cast<uint32_t>(type)) & 1U) != 0; }
};

// Null for an operation without a row. The pointer stays valid for the life of the process.
const OpInfo* find_op(std::string_view name);
// Table rows in file order, then run-time rows in the order they came.
std::vector<const OpInfo*> all_ops();
// kInvalidArgument on a name already taken. The strings are copied.
Result<const OpInfo*> register_op(const OpInfo& info);

}  // namespace tessiq::optable
