// A convolution as cuDNN's graph API describes it, and the engine the library chose. Private to libraries/.
//
// Keeps that API's headers in one file: they take long to compile, and they include CUDA's C++ wrappers, beside which
// the tables of cuda_api/ cannot name its functions.
#pragma once

#include <cudnn.h>

#include <memory>
#include <string>

#include "codegen/libraries/convolution.h"

namespace tessiq::libraries {

class ConvolutionPlan {
 public:
  // `library` is the loader's handle of cuDNN. kUnsupported where it has no engine.
  static Result<std::shared_ptr<ConvolutionPlan>> create(void* library, cudnnHandle_t handle,
                                                         const ConvolutionProblem& problem);
  ~ConvolutionPlan();
  ConvolutionPlan(const ConvolutionPlan&) = delete;
  ConvolutionPlan& operator=(const ConvolutionPlan&) = delete;

  // On the stream of `handle`.
  Result<void> run(cudnnHandle_t handle, const ConvolutionPointers& pointers, void* workspace);
  Bytes workspace() const { return Bytes{static_cast<size_t>(workspace_)}; }
  const std::string& name() const { return name_; }

 private:
  struct Graph;

  ConvolutionPlan();
  Result<void> build(cudnnHandle_t handle, const ConvolutionProblem& problem);

  std::unique_ptr<Graph> graph_;
  int64_t workspace_ = 0;
  std::string name_;
};

}  // namespace tessiq::libraries
