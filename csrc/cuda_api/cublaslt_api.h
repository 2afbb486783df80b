// cuBLASLt's functions, loaded on first use.
//
// Decides which functions tessiq calls. Leaves layouts, algorithms and workspaces to codegen/libraries.
#pragma once

#include <cublasLt.h>

#include "cuda_api/function_table.h"
#include "support/result.h"

#define TESSIQ_CUBLASLT_FUNCTIONS(X)      \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtGetStatusName)                \
  X(cublasLtGetStatusString)              \
  X(cublasLtGetVersion)                   \
  X(cublasLtMatmul)                       \
  X(cublasLtMatmulAlgoConfigGetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatrixLayoutSetAttribute)

namespace tessiq {

struct CublasLtApi {
  TESSIQ_CUBLASLT_FUNCTIONS(TESSIQ_FUNCTION_MEMBER)
};

// Loads libcublasLt (hundreds of megabytes) on the first call. A failure is kept: every later call gives the same
// error.
Result<const CublasLtApi*> cublaslt_api();

}  // namespace tessiq
