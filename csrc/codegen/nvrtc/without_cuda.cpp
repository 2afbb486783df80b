// Stands in for this folder in a build without CUDA's headers.
#include "codegen/nvrtc/compile_loops.h"

namespace tessiq::nvrtc {

Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(
    Device& /*device*/, std::span<const emit::LoopKernel> /*kernels*/) {
  return unsupported("this build of tessiq has no CUDA in it, so it compiles no kernels for GPUs");
}

}  // namespace tessiq::nvrtc
