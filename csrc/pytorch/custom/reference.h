// The reference of an operation, and how PyTorch's dispatcher reaches it and the kernel.
#pragma once

#include "pytorch/custom/operation.h"

namespace tessiq::custom {

bool is_tensor_argument(const c10::Argument& argument);

// What the reference computes anew, each a packed tensor that shares memory with no argument. Empty for an operation
// that writes in place.
Tensors new_results(const Operation& operation, const Values& arguments);

// Defines the operation with PyTorch: the reference for every kind of tensor, the kernel for tessiq's, its backward,
// and the kernel again for the operator that it replaces.
void register_with_pytorch(Operation& operation);

}  // namespace tessiq::custom
