// Lookups as both targets write them: a statement for each position, and what it adds to an offset. Private to emit/.
//
// Where a position is one the axis has not, CUDA stops the kernel by an assertion, as PyTorch's kernels do, and the
// host leaves its function and says what it found.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "codegen/emit/loop_sizes.h"
#include "codegen/emit/prelude.h"

namespace tessiq::emit {

// The same for every position of `tensor`: the expression under which it is read at all, "" for always, and the
// position that input `k` holds, as it is stored.
struct LookupReads {
  std::string guard;
  std::function<std::string(int k)> positions;
};

// "const I l2_0 = I(within(from_end(i64(in1[at1]), size0), size0));" for each lookup of the tensor, in order.
std::string lookup_lines(const LoopSizes& loop, size_t tensor, TextTarget target, std::string_view indent,
                         const LookupReads& reads);
// " + l2_0 * I(64)"; "" for a tensor without lookups.
std::string lookup_terms(const LoopSizes& loop, size_t tensor, TextTarget target);

}  // namespace tessiq::emit
