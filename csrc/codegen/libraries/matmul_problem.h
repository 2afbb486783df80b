// Arithmetic on problems before any library sees them. Private to libraries/ and its tests.
#pragma once

#include "codegen/libraries/matmul.h"

namespace tessiq::libraries {

// kInvalidArgument where sizes, layouts and strides contradict one another.
Result<void> check_problem(const MatmulProblem& problem);

// The same product with fewer cases: an addend that beta leaves unread is gone, and a batch whose matrices lie one
// after the other and share `b` is one larger matrix.
MatmulProblem simplified(MatmulProblem problem);

// k = 0 spelled as a product with one column of zeros, which is what remains of it: `zeros` holds max(m, n) of them.
MatmulProblem without_inner_extent(const MatmulProblem& problem);

}  // namespace tessiq::libraries
