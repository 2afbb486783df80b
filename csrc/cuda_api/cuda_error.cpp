// Names, messages and codes of cuda_error.h.
#include "cuda_api/cuda_error.h"

#include <string>

namespace tessiq {
namespace {

// A library newer than the headers may report a status that its own table of names lacks; null is then possible.
std::string text_or(const char* text, long status) {
  return text != nullptr ? text : "status " + std::to_string(status);
}

Error make_error(bool out_of_memory, std::string_view action, const std::string& name, const std::string& message) {
  std::string text = std::string(action) + ": " + name + ": " + message;
  return out_of_memory ? resource_exhausted(std::move(text)) : external(std::move(text));
}

}  // namespace

Error cuda_error(const CudaRuntimeApi& api, cudaError_t status, std::string_view action) {
  (void)api.cudaGetLastError();
  return make_error(status == cudaErrorMemoryAllocation, action, text_or(api.cudaGetErrorName(status), status),
                    text_or(api.cudaGetErrorString(status), status));
}

Error cuda_error(const CudaDriverApi& api, CUresult status, std::string_view action) {
  const char* name = nullptr;
  const char* message = nullptr;
  (void)api.cuGetErrorName(status, &name);
  (void)api.cuGetErrorString(status, &message);
  return make_error(status == CUDA_ERROR_OUT_OF_MEMORY, action, text_or(name, status), text_or(message, status));
}

Error nvrtc_error(const NvrtcApi& api, nvrtcResult status, std::string_view action) {
  // NVRTC has one text per status, which is its symbolic name.
  return make_error(status == NVRTC_ERROR_OUT_OF_MEMORY, action, text_or(api.nvrtcGetErrorString(status), status),
                    "NVRTC reported failure " + std::to_string(status));
}

Error cublaslt_error(const CublasLtApi& api, cublasStatus_t status, std::string_view action) {
  return make_error(status == CUBLAS_STATUS_ALLOC_FAILED, action, text_or(api.cublasLtGetStatusName(status), status),
                    text_or(api.cublasLtGetStatusString(status), status));
}

}  // namespace tessiq
