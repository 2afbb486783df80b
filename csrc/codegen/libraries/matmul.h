// Matrix multiplies through cuBLASLt, for operands that lie as analysis::matrix_layout says.
//
// Decides the description given to the library, which algorithm runs, and what happens at sizes of zero. Leaves to the
// caller the allocation of output and workspace, and packing an operand that matrix_layout refuses.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/matmul_layout.h"
#include "codegen/libraries/workspace.h"
#include "ir/element_type.h"
#include "runtime/device.h"
#include "support/result.h"

namespace tessiq::libraries {

// What is added to the product.
//   kNone     nothing
//   kRow      a vector of n elements to every row; only with beta 1 (kUnsupported otherwise: expand it to kMatrix)
//   kMatrix   m x n elements, row-major, scaled by beta; may be the output itself
enum class Addend { kNone, kRow, kMatrix };

// output[i, j] = alpha * sum_k a[i, k] * b[k, j] + beta * addend, for each matrix of a batch.
struct MatmulProblem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t batch = 1;
  analysis::MatrixLayout a;  // m x k; batch 1 or `batch`
  analysis::MatrixLayout b;  // k x n
  // Row-major: elements between rows, and between matrices of the batch.
  int64_t output_leading = 0;
  int64_t output_batch_stride = 0;
  ir::ElementType element = ir::ElementType::kFloat32;  // of all four tensors; kFloat32 accumulates in float32
  double alpha = 1;
  double beta = 1;  // of the addend; 0 leaves it unread, so that its NaN does not travel
  Addend addend = Addend::kNone;
  int64_t addend_leading = 0;       // kMatrix
  int64_t addend_batch_stride = 0;  // kMatrix
  // Rounds float32 operands to TF32 on tensor cores. Off by default: about three decimal digits instead of seven.
  bool allow_tf32 = false;
};

// The packed problem: row-major output and addend, sizes from the layouts. kInvalidArgument where they do not fit.
Result<MatmulProblem> matmul_problem(const analysis::MatrixLayout& a, const analysis::MatrixLayout& b,
                                     ir::ElementType element);

struct MatmulPointers {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* addend = nullptr;
  void* output = nullptr;
};

// What to hand over for the best choice of algorithm on this device (32 MiB on compute capability 9.0 and later).
// Less is allowed, down to nothing.
Result<Bytes> recommended_matmul_workspace(Device& device);

// Queued on `native_stream` of `device`. The algorithm is asked for once per problem, device, alignment of the pointers
// and workspace size. Safe from any thread. kUnsupported: an element type or a form the library does not have.
Result<void> matmul(Device& device, const MatmulProblem& problem, const MatmulPointers& pointers, Workspace workspace,
                    void* native_stream);

// "cuBLASLt 130002: algorithm 66, tile 18, stages 24, workspace 0 bytes, 1 waves": what was last chosen for this
// problem on this device, kNotFound before it ran.
Result<std::string> describe_matmul_choice(Device& device, const MatmulProblem& problem);

}  // namespace tessiq::libraries
