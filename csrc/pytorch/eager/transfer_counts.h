// How many bytes crossed between the host and each kind of device, and how many copies a lender ran.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "runtime/device.h"

namespace tessiq::pytorch {

struct TransferCounts {
  uint64_t to_device = 0;  // bytes
  uint64_t to_host = 0;
  uint64_t between_devices = 0;
  uint64_t lent_copies = 0;  // strided or converting copies that PyTorch's CUDA kernel did
};

void count_transfer(const at::Tensor& source, const at::Tensor& target, Bytes size);
void count_lent_copy(bool on_cuda);

TransferCounts transfer_counts();
void reset_transfer_counts();

}  // namespace tessiq::pytorch
