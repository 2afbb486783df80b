// Process-wide counters, each on its own.
#include "pytorch/eager/transfer_counts.h"

#include <atomic>

#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

std::atomic<uint64_t> to_device{0};
std::atomic<uint64_t> to_host{0};
std::atomic<uint64_t> between_devices{0};
std::atomic<uint64_t> lent_copies{0};

}  // namespace

void count_transfer(const at::Tensor& source, const at::Tensor& target, Bytes size) {
  const bool from_ours = source.device().type() == kTessiq;
  const bool to_ours = target.device().type() == kTessiq;
  std::atomic<uint64_t>& counter = from_ours && to_ours ? between_devices : from_ours ? to_host : to_device;
  counter.fetch_add(size.value, std::memory_order_relaxed);
}

void count_lent_copy(bool on_cuda) {
  if (on_cuda) {
    lent_copies.fetch_add(1, std::memory_order_relaxed);
  }
}

TransferCounts transfer_counts() { return {to_device, to_host, between_devices, lent_copies}; }

void reset_transfer_counts() {
  to_device = 0;
  to_host = 0;
  between_devices = 0;
  lent_copies = 0;
}

}  // namespace tessiq::pytorch
