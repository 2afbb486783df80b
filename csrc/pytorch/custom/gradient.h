// The backward of an operation, for PyTorch's autograd.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "pytorch/custom/operation.h"

namespace tessiq::custom {

// The kernel for autograd's key of an operation with a backward. Keeps the tensor arguments and the results.
struct RecordGradient final : c10::OperatorKernel {
  explicit RecordGradient(const Operation& of) : operation(of) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

  const Operation& operation;
};

}  // namespace tessiq::custom
