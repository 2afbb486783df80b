// Free lists by stream and size class, and the counters of caching_allocator.h.
//
// Two locks: `mutex_` guards the books and is never held during a driver call that may wait; `driver_mutex_` serialises
// allocate and deallocate, as device.h asks, so a thread that hits the cache does not wait for another's cudaMalloc.
#include "runtime/caching_allocator.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/allocator_counters.h"
#include "runtime/pending_uses.h"
#include "runtime/red_zones.h"
#include "support/log.h"

namespace tessiq {
namespace {

constexpr size_t kSmallStep = 512;
constexpr size_t kLargeStep = size_t{2} << 20;
constexpr size_t kLargeFrom = size_t{1} << 20;
// Requests beyond this cannot be rounded up, or widened by red zones, without wrapping.
constexpr size_t kLargestRequest = static_cast<size_t>(PTRDIFF_MAX) - kLargeStep;

Pool pool_of(const Block& block) { return block.size.value <= kLargeFrom ? Pool::kSmall : Pool::kLarge; }
int64_t count(Bytes size) { return static_cast<int64_t>(size.value); }

}  // namespace

AllocatorMode allocator_mode_from_environment() {
  const char* value = std::getenv("TESSIQ_ALLOCATOR_DEBUG");
  return value != nullptr && std::string_view(value) == "1" ? AllocatorMode::kRedZones : AllocatorMode::kCaching;
}

class CachingAllocator::Impl {
 public:
  Impl(Device& device, AllocatorMode mode) : device_(device), mode_(mode), red_zones_(device), pending_(device) {}

  Result<void*> allocate(Bytes requested, Stream stream);
  void deallocate(void* pointer) noexcept;
  void record_stream(void* pointer, Stream stream);
  Bytes empty_cache();

  AllocatorMode mode() const { return mode_; }
  AllocatorStats stats() const;
  void reset_peak_stats();
  void reset_accumulated_stats();

 private:
  using FreeLists = std::map<std::pair<int64_t, size_t>, std::vector<Block>>;

  // The next three are called with mutex_ held.
  void* take_cached(Bytes size, Bytes requested, Stream stream);
  void hand_out(Block block, Bytes requested);
  void put_free(Block block);

  Result<void*> ask_driver(Bytes size, Stream stream);
  Result<void*> ask_driver_twice(Bytes size, Stream stream);
  void check_and_free(const Block& block) noexcept;
  Bytes release(const std::vector<Block>& blocks);

  Device& device_;
  const AllocatorMode mode_;
  RedZones red_zones_;

  std::mutex driver_mutex_;
  // Held by one thread that empties the cache, so that a second waits for what the first gives back.
  std::mutex emptying_mutex_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> live_;
  FreeLists free_;
  PendingUses pending_;
  AllocatorStats stats_;
  // Counts emptyings that gave memory back: a thread that found nothing to release may still try again after one.
  int64_t emptyings_ = 0;
};

void* CachingAllocator::Impl::take_cached(Bytes size, Bytes requested, Stream stream) {
  if (!pending_.empty()) {
    for (Block& block : pending_.take_finished()) {
      put_free(std::move(block));
    }
  }
  const auto list = free_.find({stream.id, size.value});
  if (list == free_.end() || list->second.empty()) {
    ++stats_.cache_misses;
    return nullptr;
  }
  // The block freed last: its lines are the likeliest to be in a cache.
  Block block = std::move(list->second.back());
  list->second.pop_back();
  ++stats_.cache_hits;
  void* pointer = block.pointer;
  hand_out(std::move(block), requested);
  return pointer;
}

void CachingAllocator::Impl::hand_out(Block block, Bytes requested) {
  block.requested = requested;
  const Pool pool = pool_of(block);
  change(stats_.allocated_bytes, pool, count(block.size));
  change(stats_.active_bytes, pool, count(block.size));
  change(stats_.requested_bytes, pool, count(requested));
  change(stats_.allocation, pool, 1);
  live_.emplace(block.pointer, std::move(block));
}

void CachingAllocator::Impl::put_free(Block block) {
  change(stats_.active_bytes, pool_of(block), -count(block.size));
  block.other_streams.clear();
  const std::pair key{block.stream.id, block.size.value};
  free_[key].push_back(std::move(block));
}

Result<void*> CachingAllocator::Impl::ask_driver(Bytes size, Stream stream) {
  std::lock_guard lock(driver_mutex_);
  return mode_ == AllocatorMode::kRedZones ? red_zones_.allocate(size, stream) : device_.allocate(size);
}

Result<void*> CachingAllocator::Impl::ask_driver_twice(Bytes size, Stream stream) {
  int64_t emptyings_before = 0;
  {
    std::lock_guard lock(mutex_);
    emptyings_before = emptyings_;
  }
  Result<void*> first = ask_driver(size, stream);
  if (first) {
    return first;
  }
  // Whatever the reason was: any failure is worth one more attempt with the cache empty.
  const Bytes released = empty_cache();
  {
    std::lock_guard lock(mutex_);
    if (emptyings_ == emptyings_before) {
      ++stats_.out_of_memory;
      return first;
    }
    ++stats_.retries;
  }
  Result<void*> second = ask_driver(size, stream);
  if (second) {
    return second;
  }
  std::lock_guard lock(mutex_);
  ++stats_.out_of_memory;
  return Error(second.error().code(), second.error().message() + " (asked again after releasing " +
                                          std::to_string(released.value) + " cached bytes; " +
                                          std::to_string(stats_.allocated_bytes.all.current) + " bytes are in use)");
}

Result<void*> CachingAllocator::Impl::allocate(Bytes requested, Stream stream) {
  if (requested.value == 0) {
    return static_cast<void*>(nullptr);
  }
  if (requested.value > kLargestRequest) {
    std::lock_guard lock(mutex_);
    ++stats_.out_of_memory;
    return resource_exhausted("no device has " + std::to_string(requested.value) + " bytes");
  }
  const Bytes size = mode_ == AllocatorMode::kRedZones ? requested : size_class(requested);
  {
    std::lock_guard lock(mutex_);
    if (void* pointer = take_cached(size, requested, stream)) {
      return pointer;
    }
  }
  TESSIQ_ASSIGN_OR_RETURN(void* pointer, ask_driver_twice(size, stream));
  Block block;
  block.pointer = pointer;
  block.size = size;
  block.stream = stream;
  std::lock_guard lock(mutex_);
  change(stats_.reserved_bytes, pool_of(block), count(size));
  change(stats_.segment, pool_of(block), 1);
  hand_out(std::move(block), requested);
  return pointer;
}

void CachingAllocator::Impl::deallocate(void* pointer) noexcept {
  if (pointer == nullptr) {
    return;
  }
  std::unique_lock lock(mutex_);
  auto node = live_.extract(pointer);
  if (node.empty()) {
    lock.unlock();
    log(LogLevel::kError, "runtime", "a pointer was freed that this allocator did not hand out, or freed twice");
    return;
  }
  Block block = std::move(node.mapped());
  const Pool pool = pool_of(block);
  change(stats_.allocated_bytes, pool, -count(block.size));
  change(stats_.requested_bytes, pool, -count(block.requested));
  change(stats_.allocation, pool, -1);
  if (mode_ == AllocatorMode::kRedZones) {
    lock.unlock();
    check_and_free(block);
    return;
  }
  if (block.other_streams.empty()) {
    put_free(std::move(block));
    return;
  }
  lock.unlock();
  PendingUses uses(device_);
  uses.add(std::move(block));
  lock.lock();
  pending_.append(std::move(uses));
}

void CachingAllocator::Impl::check_and_free(const Block& block) noexcept {
  bool intact = true;
  {
    std::lock_guard lock(driver_mutex_);
    intact = red_zones_.check_and_free(block.pointer, block.size, block.stream);
  }
  std::lock_guard lock(mutex_);
  const Pool pool = pool_of(block);
  change(stats_.active_bytes, pool, -count(block.size));
  change(stats_.reserved_bytes, pool, -count(block.size));
  change(stats_.segment, pool, -1);
  ++stats_.synchronizations;
  stats_.red_zone_violations += intact ? 0 : 1;
}

void CachingAllocator::Impl::record_stream(void* pointer, Stream stream) {
  std::lock_guard lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end() || found->second.stream == stream) {
    return;
  }
  if (stream.device != found->second.stream.device) {
    log_warning("runtime", "a stream of another device was recorded for a block; order the devices with an event");
    return;
  }
  std::vector<Stream>& streams = found->second.other_streams;
  for (const Stream& known : streams) {
    if (known == stream) {
      return;
    }
  }
  streams.push_back(stream);
}

Bytes CachingAllocator::Impl::empty_cache() {
  std::lock_guard one_at_a_time(emptying_mutex_);
  PendingUses uses(device_);
  FreeLists lists;
  {
    std::lock_guard lock(mutex_);
    std::swap(uses, pending_);
    std::swap(lists, free_);
  }
  int64_t waits = 0;
  const std::vector<Block> waited_for = uses.wait_for_all(waits);
  Bytes released = release(waited_for);
  for (const auto& entry : lists) {
    released.value += release(entry.second).value;
  }
  std::lock_guard lock(mutex_);
  for (const Block& block : waited_for) {
    change(stats_.active_bytes, pool_of(block), -count(block.size));
  }
  // Blocks that could not be waited for were freed before those that came in meanwhile.
  std::swap(uses, pending_);
  pending_.append(std::move(uses));
  stats_.synchronizations += waits;
  emptyings_ += released.value > 0 ? 1 : 0;
  return released;
}

Bytes CachingAllocator::Impl::release(const std::vector<Block>& blocks) {
  Bytes released;
  for (const Block& block : blocks) {
    {
      std::lock_guard lock(driver_mutex_);
      device_.deallocate(block.pointer, block.size);
    }
    std::lock_guard lock(mutex_);
    change(stats_.reserved_bytes, pool_of(block), -count(block.size));
    change(stats_.segment, pool_of(block), -1);
    released.value += block.size.value;
  }
  return released;
}

AllocatorStats CachingAllocator::Impl::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void CachingAllocator::Impl::reset_peak_stats() {
  std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](Stat& stat) { stat.peak = stat.current; });
}

void CachingAllocator::Impl::reset_accumulated_stats() {
  std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](Stat& stat) { stat.allocated = stat.freed = 0; });
  stats_.cache_hits = stats_.cache_misses = 0;
  stats_.retries = stats_.out_of_memory = 0;
  stats_.synchronizations = stats_.red_zone_violations = 0;
}

CachingAllocator::CachingAllocator(Device& device, AllocatorMode mode) : impl_(std::make_unique<Impl>(device, mode)) {}
CachingAllocator::~CachingAllocator() { impl_->empty_cache(); }

AllocatorMode CachingAllocator::mode() const { return impl_->mode(); }

Result<void*> CachingAllocator::allocate(Bytes size, Stream stream) { return impl_->allocate(size, stream); }
void CachingAllocator::deallocate(void* pointer) noexcept { impl_->deallocate(pointer); }
void CachingAllocator::record_stream(void* pointer, Stream stream) { impl_->record_stream(pointer, stream); }
Bytes CachingAllocator::empty_cache() { return impl_->empty_cache(); }
AllocatorStats CachingAllocator::stats() const { return impl_->stats(); }
void CachingAllocator::reset_peak_stats() { impl_->reset_peak_stats(); }
void CachingAllocator::reset_accumulated_stats() { impl_->reset_accumulated_stats(); }

Bytes CachingAllocator::size_class(Bytes request) {
  const size_t step = request.value < kLargeFrom ? kSmallStep : kLargeStep;
  return Bytes{(request.value + step - 1) / step * step};
}

}  // namespace tessiq
