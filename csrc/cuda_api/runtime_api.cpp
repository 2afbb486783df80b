// Loads the table of runtime_api.h.
#include "cuda_api/runtime_api.h"

namespace tessiq {
namespace {

Result<CudaRuntimeApi> load() {
  // One major version: the structures of another differ from the headers this was compiled with.
  TESSIQ_ASSIGN_OR_RETURN(const DynamicLibrary library,
                          DynamicLibrary::open({"libcudart.so." + std::to_string(CUDART_VERSION / 1000)}));
  CudaRuntimeApi table;
  TESSIQ_CUDA_RUNTIME_FUNCTIONS(TESSIQ_LOAD_FUNCTION)
  return table;
}

}  // namespace

Result<const CudaRuntimeApi*> cuda_runtime_api() {
  static const auto* table = new Result<CudaRuntimeApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

}  // namespace tessiq
