// The parts of a reduction that read the same in CUDA and in host C++.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/emit/expression.h"
#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_sizes.h"
#include "codegen/emit/row_plan.h"

namespace tessiq::emit {

// How a combination is spelled: "sum_of".
std::string combination_name(const LoopStep& step);
// Sums of float are accumulated in float where threads share a row, so that each adds few, and in double where one
// thread adds a whole row.
enum class Sums { kAsComputed, kWide };

// The sizes of a reduction taken apart: rows are numbered by the kept axes, elements of a row by the reduced ones.
struct RowSizes {
  LoopSizes kept;
  LoopSizes reduced;

  static RowSizes of(const LoopKernel& kernel);
};
// "I(size0) * I(64)": a product of extents, "I(1)" of none.
std::string product_text(const std::vector<SizeSlot>& extents, const std::string& index_type);

// Statements of one kernel, with the names its values have been given.
class RowStatements {
 public:
  RowStatements(const LoopKernel& kernel, Sums sums);

  // "float", "placed<float>".
  std::string accumulator_type(const LoopStep& step) const;

  const std::string& name(const std::string& value) { return names_.of(value); }
  // "const float v_x = from_f16(<stored>);"
  std::string read_input(const LoopTensor& input, const std::string& stored);
  // Of an element or a row. An element's division by a value of its row multiplies by the reciprocal, which is worked
  // out once, where `reciprocals` names it.
  Result<std::string> step(const LoopStep& step);
  // "const float i_v_sum = 1.0f / v_sum;" for values of the row that elements are divided by.
  std::vector<std::string> reciprocals(const std::vector<const LoopStep*>& elements);
  // A value that an earlier walk computed: "const float v_x = <kept>;"
  std::string read_kept(const LoopStep& step, const std::string& kept);
  // "a0 = joined(sum_of(), a0, float(v_x));" with the element's position among those of its row.
  Result<std::string> join(const LoopStep& step, const std::string& accumulator, const std::string& position);
  // "const float v_sum = a0;"
  Result<std::string> combined(const LoopStep& step, const std::string& accumulator);
  // The value of an output as it is stored.
  std::string stored(const LoopTensor& output);

 private:
  ir::ElementType accumulated(const LoopStep& step) const;

  std::string divisor(const LoopStep& step) const;
  // Whether what reads the value rounds it to 16 bits before anything else.
  bool ends_narrow(const LoopStep& step) const;

  const LoopKernel& kernel_;
  Sums sums_;
  bool is_narrow_;                  // all results have 16 bits, so that the last bits of a float are nobody's
  std::set<std::string> inverted_;  // values of the row whose reciprocal has a name
  Identifiers names_;
  StepLines lines_;
};

}  // namespace tessiq::emit
