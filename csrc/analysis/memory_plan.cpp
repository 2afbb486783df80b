// First fit over the buffers placed so far, which are kept sorted by offset.
#include "analysis/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "support/int_math.h"

namespace tessiq::analysis {
namespace {

constexpr int64_t kMaxArena = int64_t{1} << 62;

Result<void> check(std::span<const BufferRequest> requests, int64_t alignment) {
  int64_t total = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const BufferRequest& request = requests[i];
    if (request.bytes < 0 || request.last < request.first) {
      return invalid_argument("buffer " + std::to_string(i) + " has " + std::to_string(request.bytes) +
                              " bytes, alive from " + std::to_string(request.first) + " to " +
                              std::to_string(request.last));
    }
    if (request.bytes > kMaxArena - alignment || total > kMaxArena - round_up(request.bytes, alignment)) {
      return resource_exhausted("the buffers of one call take more than 2^62 bytes");
    }
    total += round_up(request.bytes, alignment);
  }
  return {};
}

// The most bytes alive at one position; it is reached where some buffer begins.
int64_t peak_of(std::span<const BufferRequest> requests, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // position, bytes
  for (const BufferRequest& request : requests) {
    changes.emplace_back(2 * request.first, round_up(request.bytes, alignment));
    changes.emplace_back(2 * request.last + 1, -round_up(request.bytes, alignment));  // after what begins at `last`
  }
  std::sort(changes.begin(), changes.end());
  int64_t alive = 0;
  int64_t peak = 0;
  for (const auto& [position, bytes] : changes) {
    alive += bytes;
    peak = std::max(peak, alive);
  }
  return peak;
}

bool meet(const BufferRequest& a, const BufferRequest& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

Result<MemoryPlan> plan_memory(std::span<const BufferRequest> requests, int64_t alignment) {
  TESSIQ_RETURN_IF_ERROR(check(requests, alignment));
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  plan.peak_bytes = peak_of(requests, alignment);
  std::vector<size_t> placed;  // by offset
  for (const size_t buffer : order) {
    const int64_t bytes = round_up(requests[buffer].bytes, alignment);
    if (bytes == 0) {
      continue;
    }
    int64_t offset = 0;
    for (const size_t other : placed) {
      if (!meet(requests[buffer], requests[other])) {
        continue;
      }
      if (plan.offsets[other] >= offset + bytes) {
        break;
      }
      offset = std::max(offset, plan.offsets[other] + round_up(requests[other].bytes, alignment));
    }
    plan.offsets[buffer] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), buffer,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  buffer);
  }
  return plan;
}

}  // namespace tessiq::analysis
