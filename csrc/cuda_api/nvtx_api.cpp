// Loads the table of nvtx_api.h.
#include "cuda_api/nvtx_api.h"

#include "cuda_api/function_table.h"

namespace tessiq {
namespace {

Result<NvtxApi> load() {
  // The name of NVTX 3, then that of version 2, which toolkits before CUDA 13 have.
  TESSIQ_ASSIGN_OR_RETURN(const DynamicLibrary library,
                          DynamicLibrary::open({"libnvtx3interop.so.1", "libnvToolsExt.so.1"}));
  NvtxApi table;
  TESSIQ_LOAD_FUNCTION(nvtxRangePushA)
  TESSIQ_LOAD_FUNCTION(nvtxRangePop)
  return table;
}

}  // namespace

Result<const NvtxApi*> nvtx_api() {
  static const auto* table = new Result<NvtxApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

}  // namespace tessiq
