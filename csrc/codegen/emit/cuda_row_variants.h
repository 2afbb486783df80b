// How many threads share a row and how much of it each holds: the forms of a reduction that a launch chooses from.
#pragma once

#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/row_plan.h"

namespace tessiq::emit {

// Kept: elements stay in registers between walks. Walked: each walk reads them. Columns: rows lie across memory. Final:
// the end of rows that several blocks shared.
enum class RowForm { kKept, kWalked, kColumns, kFinal };

struct RowVariant {
  RowForm form = RowForm::kWalked;
  int threads = 32;  // a row
  int units = 1;     // vectors a thread has in flight
  int width = 1;     // elements a vector
  bool index_32bit = true;
  int64_t longest = 0;  // row it takes; 0 for any
  bool splits = false;  // several blocks may share a row
};

// In the order a launch tries them; the last takes every row.
std::vector<RowVariant> row_variants(const LoopKernel& kernel);
KernelVariant kernel_variant(const RowVariant& row);

}  // namespace tessiq::emit
