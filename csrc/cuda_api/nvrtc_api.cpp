// Loads the table of nvrtc_api.h.
#include "cuda_api/nvrtc_api.h"

#include <cuda.h>

namespace tessiq {
namespace {

Result<NvrtcApi> load() {
  TESSIQ_ASSIGN_OR_RETURN(const DynamicLibrary library,
                          DynamicLibrary::open({"libnvrtc.so." + std::to_string(CUDA_VERSION / 1000)}));
  NvrtcApi table;
  TESSIQ_NVRTC_FUNCTIONS(TESSIQ_LOAD_FUNCTION)
  return table;
}

}  // namespace

Result<const NvrtcApi*> nvrtc_api() {
  static const auto* table = new Result<NvrtcApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

}  // namespace tessiq
