// Loads the table of cublaslt_api.h.
#include "cuda_api/cublaslt_api.h"

namespace tessiq {
namespace {

Result<CublasLtApi> load() {
  TESSIQ_ASSIGN_OR_RETURN(const DynamicLibrary library,
                          DynamicLibrary::open({"libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)}));
  CublasLtApi table;
  TESSIQ_CUBLASLT_FUNCTIONS(TESSIQ_LOAD_FUNCTION)
  return table;
}

}  // namespace

Result<const CublasLtApi*> cublaslt_api() {
  static const auto* table = new Result<CublasLtApi>(load());
  if (!*table) {
    return table->error();
  }
  return &**table;
}

}  // namespace tessiq
