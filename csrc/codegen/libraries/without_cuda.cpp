// Stands in for the calls of this folder in a build without CUDA's headers.
#include "codegen/libraries/matmul.h"

namespace tessiq::libraries {
namespace {

Error without_cuda() { return unsupported("this build of tessiq has no CUDA in it, so it calls no library for GPUs"); }

}  // namespace

Result<Bytes> recommended_matmul_workspace(Device& /*device*/) { return without_cuda(); }

Result<void> matmul(Device& /*device*/, const MatmulProblem& /*problem*/, const MatmulPointers& /*pointers*/,
                    Workspace /*workspace*/, void* /*native_stream*/) {
  return without_cuda();
}

Result<std::string> describe_matmul_choice(Device& /*device*/, const MatmulProblem& /*problem*/) {
  return without_cuda();
}

}  // namespace tessiq::libraries
