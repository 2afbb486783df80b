// Page-locked host memory for copies that a GPU makes by DMA.
//
// Decides who pins: the first GPU of the registry, for all of them; without a GPU, pinning buys nothing and the memory
// is ordinary. Leaves the map from tensors to memory to the PyTorch adapter. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "runtime/registry.h"

namespace tessiq {

struct PinnedStats {
  Stat bytes;
  Stat blocks;
};

class PinnedAllocator {
 public:
  // Of the process's registry. Never destroyed, like the registry.
  static PinnedAllocator& instance();
  // `registry` outlives this.
  explicit PinnedAllocator(const DeviceRegistry& registry);

  // Zero bytes give a null pointer.
  Result<void*> allocate(Bytes size);
  // First waits for the GPUs that are in use: a copy started without blocking may still be reading the memory.
  void deallocate(void* pointer) noexcept;
  // True for any address inside a live block, since a tensor may be a view at an offset.
  bool is_pinned(const void* address) const;

  PinnedStats stats() const;

 private:
  void wait_for_gpus() noexcept;

  const DeviceRegistry& registry_;
  Device* pinning_device_;
  mutable std::mutex mutex_;
  std::map<const char*, Bytes> blocks_;  // by start
  PinnedStats stats_;
};

}  // namespace tessiq
