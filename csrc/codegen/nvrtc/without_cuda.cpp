// Stands in for this folder in a build without CUDA's headers.
#include "codegen/nvrtc/compile_loops.h"
#include "codegen/nvrtc/written_kernel.h"

namespace tessiq::nvrtc {
namespace {

Error no_cuda() { return unsupported("this build of tessiq has no CUDA in it, so it compiles no kernels for GPUs"); }

}  // namespace

Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(
    Device& /*device*/, std::span<const emit::LoopKernel> /*kernels*/) {
  return no_cuda();
}

Result<std::shared_ptr<LoadedWrittenKernel>> load_written_kernel(Device& /*device*/, const WrittenKernel& /*kernel*/) {
  return no_cuda();
}
Result<void> try_written_kernel(const WrittenKernel& /*kernel*/, std::span<const std::string> /*architectures*/) {
  return no_cuda();
}
Result<std::string> architecture_of(Device& /*device*/) { return no_cuda(); }
Result<std::vector<std::string>> outermost_architectures() { return no_cuda(); }

}  // namespace tessiq::nvrtc
