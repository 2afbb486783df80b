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
  int major = 0;
  int minor = 0;
  if (table.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS) {
    // NVRTC opens its companion by name alone, which the nvidia wheels put in no search path.
    library.load_companion("libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor));
  }
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
