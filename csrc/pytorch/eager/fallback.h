// What happens to an operator that has no kernel under tessiq's dispatch key.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace tessiq::pytorch {

// The boxed kernel for every such operator.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Runs `kernel_of` with the arguments of a call to `op`, which has the same ones: for operators that exist only for
// backends to implement. The ledger names `op`.
void fallback_as(const c10::OperatorHandle& op, const c10::OperatorHandle& kernel_of, torch::jit::Stack* stack);

}  // namespace tessiq::pytorch
