// The one place where a status of CUDA, NVRTC or cuBLASLt becomes a Result.
//
// Decides the error code (out of memory is kResourceExhausted, all else kExternal) and the text: what was being done,
// the symbolic name that a developer searches for, and the message that a user reads, as in
// "cudaMalloc of 512 bytes: cudaErrorMemoryAllocation: out of memory".
#pragma once

#include <string_view>

#include "cuda_api/cublaslt_api.h"
#include "cuda_api/driver_api.h"
#include "cuda_api/nvrtc_api.h"
#include "cuda_api/runtime_api.h"
#include "support/result.h"

namespace tessiq {

// The error of a status that is not success. Also clears the runtime's record of the last error, which PyTorch's
// launch checks would otherwise read and blame on an innocent kernel.
Error cuda_error(const CudaRuntimeApi& api, cudaError_t status, std::string_view action);
Error cuda_error(const CudaDriverApi& api, CUresult status, std::string_view action);
Error nvrtc_error(const NvrtcApi& api, nvrtcResult status, std::string_view action);
Error cublaslt_error(const CublasLtApi& api, cublasStatus_t status, std::string_view action);

inline Result<void> check_cuda(const CudaRuntimeApi& api, cudaError_t status, std::string_view action) {
  return status == cudaSuccess ? Result<void>() : cuda_error(api, status, action);
}
inline Result<void> check_cuda(const CudaDriverApi& api, CUresult status, std::string_view action) {
  return status == CUDA_SUCCESS ? Result<void>() : cuda_error(api, status, action);
}
inline Result<void> check_nvrtc(const NvrtcApi& api, nvrtcResult status, std::string_view action) {
  return status == NVRTC_SUCCESS ? Result<void>() : nvrtc_error(api, status, action);
}
inline Result<void> check_cublaslt(const CublasLtApi& api, cublasStatus_t status, std::string_view action) {
  return status == CUBLAS_STATUS_SUCCESS ? Result<void>() : cublaslt_error(api, status, action);
}

}  // namespace tessiq
