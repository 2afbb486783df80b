// How many threads share a row and how much of it each holds: the forms of a reduction that a launch chooses from.
#pragma once

#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/row_plan.h"

namespace tessiq::emit {

// Between walks, elements are kept in registers, staged in shared memory, or read again (walked). Columns: rows lie
// across memory. Final: the end of rows that several blocks shared.
enum class RowForm { kKept, kStaged, kWalked, kColumns, kFinal };
const char* row_form_name(RowForm form);

struct RowVariant {
  RowForm form = RowForm::kWalked;
  int threads = 32;  // a row
  int units = 1;     // vectors a thread has in flight
  int width = 1;     // elements a vector
  bool index_32bit = true;
  int64_t longest = 0;  // row it takes; 0 for any
  bool splits = false;  // several blocks may share a row
  int64_t staged = 0;   // bytes of shared memory for each element of a row
};

// In the order a launch tries them; the last takes every row.
std::vector<RowVariant> row_variants(const LoopKernel& kernel);
KernelVariant kernel_variant(const RowVariant& row);
// Bytes a staged row has in shared memory for each of its elements.
int64_t staged_bytes(const LoopKernel& kernel);

}  // namespace tessiq::emit
