// The set of pinned blocks, and the wait before one is given back.
#include "runtime/pinned_allocator.h"

#include "runtime/allocator_counters.h"
#include "support/log.h"

namespace tessiq {
namespace {

Device* device_that_pins(const DeviceRegistry& registry) {
  for (int i = 0; i < registry.device_count(); ++i) {
    Device* device = *registry.device(DeviceIndex{static_cast<int16_t>(i)});
    if (device->kind() != DeviceKind::kHost) {
      return device;
    }
  }
  return *registry.device(DeviceIndex{0});
}

}  // namespace

PinnedAllocator& PinnedAllocator::instance() {
  static auto* allocator = new PinnedAllocator(DeviceRegistry::instance());
  return *allocator;
}

PinnedAllocator::PinnedAllocator(const DeviceRegistry& registry)
    : registry_(registry), pinning_device_(device_that_pins(registry)) {}

Result<void*> PinnedAllocator::allocate(Bytes size) {
  if (size.value == 0) {
    return static_cast<void*>(nullptr);
  }
  TESSIQ_ASSIGN_OR_RETURN(void* pointer, pinning_device_->allocate_pinned(size));
  std::lock_guard lock(mutex_);
  blocks_[static_cast<const char*>(pointer)] = size;
  change(stats_.bytes, static_cast<int64_t>(size.value));
  change(stats_.blocks, 1);
  return pointer;
}

void PinnedAllocator::wait_for_gpus() noexcept {
  for (int i = 0; i < registry_.device_count(); ++i) {
    const Result<void> waited = (*registry_.device(DeviceIndex{static_cast<int16_t>(i)}))->synchronize();
    if (!waited) {
      // After a failure the device runs nothing that could still read the block, so freeing it is safe.
      log_warning("runtime", "waiting before pinned memory is freed: " + waited.error().message());
    }
  }
}

void PinnedAllocator::deallocate(void* pointer) noexcept {
  if (pointer == nullptr) {
    return;
  }
  Bytes size;
  {
    std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<const char*>(pointer));
    if (found == blocks_.end()) {
      log(LogLevel::kError, "runtime",
          "a pointer was freed that the pinned allocator did not hand out, or freed twice");
      return;
    }
    size = found->second;
    // Taken out before the memory is given back: another thread may get the same address at once.
    blocks_.erase(found);
    change(stats_.bytes, -static_cast<int64_t>(size.value));
    change(stats_.blocks, -1);
  }
  wait_for_gpus();
  pinning_device_->deallocate_pinned(pointer, size);
}

bool PinnedAllocator::is_pinned(const void* address) const {
  const auto* wanted = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(wanted);
  if (after == blocks_.begin()) {
    return false;
  }
  const auto& [start, size] = *--after;
  return wanted < start + size.value;
}

PinnedStats PinnedAllocator::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace tessiq
