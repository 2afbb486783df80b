// cuDNN's functions, loaded on first use.
//
// Decides which functions tessiq calls itself. Leaves graphs and plans to codegen/libraries, whose headers look up the
// rest of the library in `library`.
#pragma once

#include <cudnn.h>

#include <string_view>

#include "cuda_api/function_table.h"
#include "support/result.h"

#define TESSIQ_CUDNN_FUNCTIONS(X) \
  X(cudnnCreate)                  \
  X(cudnnGetErrorString)          \
  X(cudnnSetStream)

namespace tessiq {

struct CudnnApi {
  TESSIQ_CUDNN_FUNCTIONS(TESSIQ_FUNCTION_MEMBER)
  void* library = nullptr;  // the loader's handle
};

// Loads libcudnn on the first call. A failure is kept: every later call gives the same error.
Result<const CudnnApi*> cudnn_api();

// kExternal where `status` is no success: "creating a cuDNN handle: CUDNN_STATUS_...".
Result<void> check_cudnn(const CudnnApi& api, cudnnStatus_t status, std::string_view action);

}  // namespace tessiq
