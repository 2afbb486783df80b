// Stands in for convolution.cpp in a build without cuDNN's headers.
#include "codegen/libraries/convolution.h"

namespace tessiq::libraries {
namespace {

Error without_cudnn() { return unsupported("this build of tessiq has no cuDNN in it"); }

}  // namespace

class ConvolutionPlan {};

Result<std::shared_ptr<ConvolutionPlan>> convolution_plan(Device& /*device*/, const ConvolutionProblem& /*problem*/) {
  return without_cudnn();
}

Bytes workspace_of(const ConvolutionPlan& /*plan*/) { return {}; }

std::string describe(const ConvolutionPlan& /*plan*/) { return {}; }

Result<void> convolve(Device& /*device*/, ConvolutionPlan& /*plan*/, const ConvolutionPointers& /*pointers*/,
                      Workspace /*workspace*/, void* /*native_stream*/) {
  return without_cudnn();
}

bool has_convolutions(const Device& /*device*/) { return false; }

}  // namespace tessiq::libraries
