// What a reduction computes in which walk over the elements of a row, for emitters to write down.
#pragma once

#include <cstddef>
#include <vector>

#include "codegen/emit/loop_kernel.h"

namespace tessiq::emit {

// Whether a walk computes again what an earlier one had computed for the same element, or finds it kept.
enum class Elements { kComputedAgain, kKept };

struct RowWalk {
  std::vector<size_t> inputs;              // by element: those this walk reads
  std::vector<const LoopStep*> reads;      // by element: kept by an earlier walk
  std::vector<const LoopStep*> steps;      // by element, in order
  std::vector<const LoopStep*> keeps;      // by element: of `steps`, what a later walk reads
  std::vector<const LoopStep*> combines;   // whose operands it has
  std::vector<size_t> outputs;             // by element
  std::vector<const LoopStep*> row_steps;  // once, after what was combined is known
};

struct RowPlan {
  std::vector<const LoopStep*> row_steps;  // before the first walk
  std::vector<RowWalk> walks;

  static RowPlan of(const LoopKernel& kernel, Elements elements);
  // How many walks read an input's elements.
  int walks_reading(size_t input) const;
};

const LoopStep* find_step(const LoopKernel& kernel, const std::string& value);  // null where it is an input

}  // namespace tessiq::emit
