// Loads the table of cudnn_api.h.
#include "cuda_api/cudnn_api.h"

namespace tessiq {
namespace {

Result<CudnnApi> load() {
  TESSIQ_ASSIGN_OR_RETURN(const DynamicLibrary library,
                          DynamicLibrary::open({"libcudnn.so." + std::to_string(CUDNN_MAJOR)}));
  CudnnApi table;
  TESSIQ_CUDNN_FUNCTIONS(TESSIQ_LOAD_FUNCTION)
  table.library = library.handle();
  return table;
}

}  // namespace

Result<const CudnnApi*> cudnn_api() {
  static const auto* table = new Result<CudnnApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

Result<void> check_cudnn(const CudnnApi& api, cudnnStatus_t status, std::string_view action) {
  if (status == CUDNN_STATUS_SUCCESS) {
    return {};
  }
  return external(std::string(action) + ": " + api.cudnnGetErrorString(status));
}

}  // namespace tessiq
