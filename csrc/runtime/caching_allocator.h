// Memory of one device, kept between requests because the driver is slow to give it and slower to take it back.
//
// Decides size classes, reuse and what the counters mean. Leaves to Device the memory itself, and to the PyTorch
// adapter the map from an address to its device.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/device.h"

namespace tessiq {

// One quantity over time, as PyTorch's memory statistics report it.
struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;  // sum of all increases
  int64_t freed = 0;      // sum of all decreases
};

// The two pools of PyTorch's statistics and their sum. Small: size classes up to 1 MiB.
struct PooledStat {
  Stat all;
  Stat large_pool;
  Stat small_pool;
};

struct AllocatorStats {
  PooledStat allocated_bytes;  // held by live blocks, in size-class bytes
  PooledStat reserved_bytes;   // taken from the driver and not given back
  PooledStat active_bytes;     // live, or freed but waiting for a stream that used them
  PooledStat requested_bytes;  // as asked for, before rounding
  PooledStat allocation;       // live blocks, counted
  PooledStat segment;          // driver allocations, counted
  int64_t cache_hits = 0;
  int64_t cache_misses = 0;
  int64_t retries = 0;        // driver refusals answered by emptying the cache and asking again
  int64_t out_of_memory = 0;  // requests that failed after that
  int64_t synchronizations = 0;
  int64_t red_zone_violations = 0;  // damaged surroundings found at a free; only AllocatorMode::kRedZones looks
};

enum class AllocatorMode {
  kCaching,
  // For finding overruns that a cache hides: exact sizes, no cache, and a red zone on both sides of each block that is
  // checked, after waiting for the device, when the block is freed. Damage is logged as an error and counted.
  kRedZones,
};

// kRedZones where the environment has TESSIQ_ALLOCATOR_DEBUG=1, else kCaching.
AllocatorMode allocator_mode_from_environment();

class CachingAllocator {
 public:
  explicit CachingAllocator(Device& device, AllocatorMode mode = allocator_mode_from_environment());
  // Gives the cached blocks back. Live blocks stay with their owners, who can no longer free them.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  AllocatorMode mode() const;

  // Zero bytes give a null pointer. The block belongs to `stream`: work queued there after a free may reuse it.
  // On failure the cache is emptied and the driver asked once more; the error then names the bytes released.
  Result<void*> allocate(Bytes size, Stream stream);
  // `pointer` came from this allocator; null is allowed.
  void deallocate(void* pointer) noexcept;
  // `stream`, of the same device, also uses the block: after its free, it is reused only when that stream has passed.
  // A pointer that is not a live block of this allocator is ignored, as is a null one.
  void record_stream(void* pointer, Stream stream);

  // Gives every cached block back to the driver, waiting for blocks that streams still use. Returns the bytes.
  Bytes empty_cache();

  AllocatorStats stats() const;
  void reset_peak_stats();
  void reset_accumulated_stats();

  // The size class of a request: a multiple of 512 bytes below 1 MiB, of 2 MiB from there (PyTorch's own constants).
  static Bytes size_class(Bytes request);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessiq
