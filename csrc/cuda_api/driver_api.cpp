// Loads the table of driver_api.h through cudaGetDriverEntryPointByVersion.
#include "cuda_api/driver_api.h"

#include "cuda_api/cuda_error.h"
#include "cuda_api/runtime_api.h"

namespace tessiq {
namespace {

Result<void*> entry_point(const CudaRuntimeApi& runtime, const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  // The version of the headers: the prototype that was compiled against, whatever the driver's newest is. And the
  // variants for which a null stream is the legacy default stream, not the thread's own.
  const cudaError_t status =
      runtime.cudaGetDriverEntryPointByVersion(name, &address, CUDA_VERSION, cudaEnableLegacyStream, &found);
  TESSIQ_RETURN_IF_ERROR(check_cuda(runtime, status, name));
  if (found == cudaDriverEntryPointVersionNotSufficent) {
    return not_found(std::string("the NVIDIA driver is older than CUDA ") + std::to_string(CUDA_VERSION / 1000) + "." +
                     std::to_string(CUDA_VERSION % 1000 / 10) + " and lacks " + name);
  }
  if (found != cudaDriverEntryPointSuccess || address == nullptr) {
    return not_found(std::string("the NVIDIA driver lacks ") + name);
  }
  return address;
}

template <typename Function>
Result<void> load_entry_point(const CudaRuntimeApi& runtime, const char* name, Function*& target) {
  TESSIQ_ASSIGN_OR_RETURN(void* address, entry_point(runtime, name));
  target = reinterpret_cast<Function*>(address);
  return {};
}

// Asked for by the plain name: the runtime maps it to the variant (cuMemAlloc -> cuMemAlloc_v2) of the version given.
#define TESSIQ_LOAD_ENTRY_POINT(name) TESSIQ_RETURN_IF_ERROR(load_entry_point(*runtime, #name, table.name));

Result<CudaDriverApi> load() {
  TESSIQ_ASSIGN_OR_RETURN(const CudaRuntimeApi* runtime, cuda_runtime_api());
  CudaDriverApi table;
  TESSIQ_CUDA_DRIVER_FUNCTIONS(TESSIQ_LOAD_ENTRY_POINT)
  return table;
}

}  // namespace

Result<const CudaDriverApi*> cuda_driver_api() {
  static const auto* table = new Result<CudaDriverApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

}  // namespace tessiq
