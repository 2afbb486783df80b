// c10's allocator interface over the runtime's pinned allocator.
#include "pytorch/device/pinned_memory.h"

#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "runtime/pinned_allocator.h"

namespace tessiq::pytorch {
namespace {

void release(void* pointer) { PinnedAllocator::instance().deallocate(pointer); }

c10::CachingAllocator::Stat to_torch(const Stat& from) {
  c10::CachingAllocator::Stat to;
  to.current = from.current;
  to.peak = from.peak;
  to.allocated = from.allocated;
  to.freed = from.freed;
  return to;
}

class PinnedMemory final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    registry();
    void* pointer = value_or_raise(PinnedAllocator::instance().allocate(Bytes{size}));
    return {pointer, pointer, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t size) const override {
    default_copy_data(target, source, size);
  }
  // Nothing to note: a block is given back only after the GPUs have finished.
  bool record_event(void* pointer, void*, c10::Stream) override { return is_pinned(pointer); }
  // Nothing is kept: a freed block goes back to the driver at once.
  void empty_cache() override {}
  at::HostStats get_stats() override {
    const PinnedStats stats = PinnedAllocator::instance().stats();
    at::HostStats result;
    result.allocations = to_torch(stats.blocks);
    result.active_requests = to_torch(stats.blocks);
    result.allocated_bytes = to_torch(stats.bytes);
    result.active_bytes = to_torch(stats.bytes);
    return result;
  }
  // The runtime counts from the start of the process.
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

PinnedMemory instance;

const bool registered = [] {
  at::setHostAllocator(kTessiq, &instance);
  return true;
}();

}  // namespace

at::HostAllocator* pinned_memory() { return &instance; }

bool is_pinned(const void* pointer) { return PinnedAllocator::instance().is_pinned(pointer); }

}  // namespace tessiq::pytorch
