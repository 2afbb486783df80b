// The copying tier: the memory under a call's tensors brought to the host and written tensors carried back.
//
// Decides that one storage becomes one host block, so that tensors that share memory still share it on the host and
// PyTorch's own overlap checks see what they should. Leaves running the kernel to the fallback.
#pragma once

#include <ATen/core/Tensor.h>

#include "pytorch/eager/call_arguments.h"

namespace tessiq::pytorch {

// Sets `lent` of every use to a host tensor of equal sizes, strides and aliasing.
void mirror_on_host(c10::SmallVectorImpl<TensorUse>& uses);
// Carries the written ones back, resized where the kernel resized them.
void write_back(const c10::SmallVectorImpl<TensorUse>& uses);

// One tensor with its memory span, for reading on the host. Equal sizes and strides.
at::Tensor host_copy_of_span(const at::Tensor& tensor);
// A new tensor of device `index` with the values and strides of a host tensor.
at::Tensor upload(const at::Tensor& host, DeviceIndex index);

}  // namespace tessiq::pytorch
