// Reductions whose rows lie across memory, and the end of those that several blocks share. Private to emit/.
#pragma once

#include <string>

#include "codegen/emit/loop_kernel.h"

namespace tessiq::emit {

// Threads side by side have rows side by side, which they walk together. Requires a plan of one walk.
Result<std::string> columns_function(const LoopKernel& kernel);
// Combines what the blocks that shared a row left, in the order of the blocks, and computes what follows.
Result<std::string> final_function(const LoopKernel& kernel);

// Where block b of `parts` leaves what it combined of row i: the address of element 0 of an array of rows x parts.
std::string partial_result(size_t combine, const std::string& type, const std::string& rows, const std::string& parts);

}  // namespace tessiq::emit
