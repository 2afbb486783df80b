// Where in one arena each buffer of a call lies, so that buffers alive at once share no byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"

namespace tessiq::analysis {

struct BufferRequest {
  int64_t bytes = 0;
  // Closed range of positions: see StorageRange.
  int64_t first = 0;
  int64_t last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one a request, in bytes from the start of the arena
  int64_t arena_bytes = 0;
  int64_t peak_bytes = 0;  // the most that is alive at one position: no plan needs less
};

// The alignment of what device allocators give out: vector loads and libraries rely on it.
inline constexpr int64_t kBufferAlignment = 256;

// Greedy first fit, larger buffers first: each goes to the lowest aligned offset that no buffer alive at the same time
// covers. kInvalidArgument on a negative size or a range that ends before it begins; kResourceExhausted past 2^62
// bytes.
Result<MemoryPlan> plan_memory(std::span<const BufferRequest> requests, int64_t alignment = kBufferAlignment);

}  // namespace tessiq::analysis
