// How the allocator's counters move. What they mean is in caching_allocator.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/caching_allocator.h"

namespace tessiq {

// Which half of the statistics a block counts in.
enum class Pool { kSmall, kLarge };

inline void change(Stat& stat, int64_t amount) {
  stat.current += amount;
  stat.peak = std::max(stat.peak, stat.current);
  (amount > 0 ? stat.allocated : stat.freed) += amount > 0 ? amount : -amount;
}

inline void change(PooledStat& stat, Pool pool, int64_t amount) {
  change(stat.all, amount);
  change(pool == Pool::kSmall ? stat.small_pool : stat.large_pool, amount);
}

// Applies `action` to every Stat of `stats`.
template <typename Action>
void for_each_stat(AllocatorStats& stats, Action action) {
  for (PooledStat* pooled : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes, &stats.requested_bytes,
                             &stats.allocation, &stats.segment}) {
    for (Stat* stat : {&pooled->all, &pooled->large_pool, &pooled->small_pool}) {
      action(*stat);
    }
  }
}

}  // namespace tessiq
