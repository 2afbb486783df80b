// How a matrix multiply reads its operands where they lie: claims and library calls both ask here.
#pragma once

#include <cstdint>
#include <span>

#include "ir/graph.h"
#include "ir/type.h"
#include "support/result.h"

namespace tessiq::analysis {

// One operand of a (batched) product as a library reads it: a row-major matrix, or the transpose of one.
struct MatrixLayout {
  int64_t rows = 0;  // of the operand as the product sees it
  int64_t columns = 0;
  int64_t leading = 0;  // elements between neighbouring rows of what is stored (columns where transposed)
  bool transposed = false;
  int64_t batch = 1;
  int64_t batch_stride = 0;
};

// `sizes` and `strides` have two entries, or three with the batch first. kUnsupported where neither of the last two
// axes is contiguous, or rows overlap: the operand has to be packed first. A batch stride of 0 is a broadcast batch.
Result<MatrixLayout> matrix_layout(std::span<const int64_t> sizes, std::span<const int64_t> strides);

enum class MatrixOrder { kRowMajor, kEither };

// The same question while sizes may still be symbols: true only where matrix_layout answers for every call, in the
// order asked for; `definitions` says what its symbols stand for. False costs a packed copy.
bool readable_as_matrix(const ir::TensorType& type, const ir::Graph* definitions,
                        MatrixOrder order = MatrixOrder::kEither);

}  // namespace tessiq::analysis
