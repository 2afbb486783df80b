// A problem as cuBLASLt describes it, and the algorithm the library chose. Private to libraries/.
//
// Decides row-major by swapping: a row-major matrix read column-major is its transpose, so the library is asked for
// output^T = b^T a^T, and a transpose flag stands for an operand stored the other way round.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <mutex>
#include <string>

#include "codegen/libraries/matmul.h"
#include "cuda_api/cublaslt_api.h"

namespace tessiq::libraries {

// Largest power of two, up to 256, that divides an address: what the library may assume of it.
uint32_t alignment_of(const void* pointer);

struct Alignments {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t addend = 0;
  uint32_t output = 0;
};

class MatmulPlan {
 public:
  // kUnsupported where the library has no algorithm. `problem` is simplified and has no extent of 0.
  static Result<std::shared_ptr<MatmulPlan>> create(const CublasLtApi& api, cublasLtHandle_t handle,
                                                    const MatmulProblem& problem, const Alignments& alignments,
                                                    const MatmulPointers& pointers, Bytes workspace);
  ~MatmulPlan();
  MatmulPlan(const MatmulPlan&) = delete;
  MatmulPlan& operator=(const MatmulPlan&) = delete;

  Result<void> run(const MatmulPointers& pointers, Workspace workspace, cudaStream_t stream);
  std::string describe() const;

 private:
  MatmulPlan(const CublasLtApi& api, cublasLtHandle_t handle, const MatmulProblem& problem)
      : api_(api), handle_(handle), problem_(problem) {}
  Result<void> describe_operation(const MatmulPointers& pointers);
  Result<void> describe_matrices();
  Result<void> choose(const Alignments& alignments, Bytes workspace);

  const CublasLtApi& api_;
  cublasLtHandle_t handle_;
  MatmulProblem problem_;
  std::mutex mutex_;  // the row's address is part of the operation's description
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr;   // b, seen column-major
  cublasLtMatrixLayout_t right_ = nullptr;  // a
  cublasLtMatrixLayout_t addend_ = nullptr;
  cublasLtMatrixLayout_t output_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_ = {};
};

}  // namespace tessiq::libraries
