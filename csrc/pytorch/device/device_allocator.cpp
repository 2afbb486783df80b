// The allocator of the current device, one bound to each device, and the map from address to device behind both.
#include "pytorch/device/device_allocator.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "pytorch/device/shared_storage.h"

namespace tessiq::pytorch {
namespace {

struct Block {
  DeviceIndex device;
  size_t size;
};

// Every live address and its device. Sharded, because all threads allocate through it.
class OwnerMap {
 public:
  void insert(void* pointer, Block block) {
    Shard& shard = shard_of(pointer);
    std::lock_guard lock(shard.mutex);
    shard.blocks.emplace(pointer, block);
  }
  std::optional<Block> find(const void* pointer) {
    Shard& shard = shard_of(pointer);
    std::lock_guard lock(shard.mutex);
    const auto found = shard.blocks.find(pointer);
    return found == shard.blocks.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Block> take(const void* pointer) {
    Shard& shard = shard_of(pointer);
    std::lock_guard lock(shard.mutex);
    const auto found = shard.blocks.find(pointer);
    if (found == shard.blocks.end()) {
      return std::nullopt;
    }
    const Block block = found->second;
    shard.blocks.erase(found);
    return block;
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<const void*, Block> blocks;
  };
  Shard& shard_of(const void* pointer) {
    return shards_[(reinterpret_cast<uintptr_t>(pointer) / kDeviceAlignment) % shards_.size()];
  }
  std::array<Shard, 16> shards_;
};

OwnerMap& owners() {
  // Never destroyed: tensors in Python globals are freed after static destructors.
  static auto* map = new OwnerMap;
  return *map;
}

void report_to_profiler(void* pointer, int64_t change, DeviceIndex device) {
  if (!c10::memoryProfilingEnabled()) {
    return;
  }
  const AllocatorStats stats = caching_allocator_at(device).stats();
  c10::reportMemoryUsageToProfiler(pointer, change, static_cast<size_t>(stats.allocated_bytes.all.current),
                                   static_cast<size_t>(stats.reserved_bytes.all.current), to_torch(device));
}

void release(void* pointer) {
  if (pointer == nullptr) {
    return;
  }
  const std::optional<Block> block = owners().take(pointer);
  if (!block) {
    TORCH_WARN("tessiq: a block that no device handed out was freed and is left alone");
    return;
  }
  auto allocator = registry().allocator(block->device);
  if (allocator) {
    (*allocator)->deallocate(pointer);
    report_to_profiler(pointer, -static_cast<int64_t>(block->size), block->device);
  }
}

// PyTorch's own CUDA allocator keeps freed results of borrowed kernels, on the same GPU. True if it gave some back.
bool empty_pytorchs_cuda_cache(DeviceIndex device) {
  if (device_at(device).kind() != DeviceKind::kCuda || !c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) {
    return false;
  }
  auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::CUDA));
  if (allocator == nullptr || !allocator->initialized()) {
    return false;
  }
  allocator->emptyCache();
  return true;
}

c10::DataPtr allocate_on(DeviceIndex device, size_t size) {
  CachingAllocator& allocator = caching_allocator_at(device);
  Result<void*> allocated = allocator.allocate(Bytes{size}, current_stream(device));
  if (!allocated && allocated.error().code() == ErrorCode::kResourceExhausted && empty_pytorchs_cuda_cache(device)) {
    allocated = allocator.allocate(Bytes{size}, current_stream(device));
  }
  void* pointer = value_or_raise(std::move(allocated));
  if (pointer != nullptr) {
    owners().insert(pointer, Block{device, size});
    report_to_profiler(pointer, static_cast<int64_t>(size), device);
  }
  return {pointer, pointer, &release, to_torch(device)};
}

void copy_within(DeviceIndex device, void* target, const void* source, size_t size) {
  value_or_raise(device_at(device).copy_on_device(target, source, Bytes{size}, current_stream(device)));
}

c10::CachingAllocator::StatArray to_torch(const PooledStat& stat) {
  const auto convert = [](const Stat& from) {
    c10::CachingAllocator::Stat to;
    to.current = from.current;
    to.peak = from.peak;
    to.allocated = from.allocated;
    to.freed = from.freed;
    return to;
  };
  // The order of c10's StatType: aggregate, small pool, large pool.
  return {convert(stat.all), convert(stat.small_pool), convert(stat.large_pool)};
}

class CurrentDeviceAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t size) override { return allocate_on(current_device(), size); }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t size) const override {
    copy_within(owner_of(target).value_or(current_device()), target, source, size);
  }
  // Discovery happens on first use, and torch.accelerator's memory calls are such a use.
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {
    for (int index = 0; index < registry().device_count(); ++index) {
      caching_allocator_at(static_cast<DeviceIndex>(index)).empty_cache();
    }
  }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override { record_data_on_stream(data, stream); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    caching_allocator_at(resolve(device)).reset_accumulated_stats();
  }
  void resetPeakStats(c10::DeviceIndex device) override { caching_allocator_at(resolve(device)).reset_peak_stats(); }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    const MemoryInfo info = value_or_raise(device_at(resolve(device)).memory_info());
    return {info.free.value, info.total.value};
  }
};

c10::CachingDeviceAllocator::DeviceStats CurrentDeviceAllocator::getDeviceStats(c10::DeviceIndex device) {
  const AllocatorStats stats = caching_allocator_at(resolve(device)).stats();
  c10::CachingDeviceAllocator::DeviceStats result;
  result.allocation = to_torch(stats.allocation);
  result.segment = to_torch(stats.segment);
  // Live blocks; the runtime counts those that wait for a stream in bytes only.
  result.active = to_torch(stats.allocation);
  result.allocated_bytes = to_torch(stats.allocated_bytes);
  result.reserved_bytes = to_torch(stats.reserved_bytes);
  result.active_bytes = to_torch(stats.active_bytes);
  result.requested_bytes = to_torch(stats.requested_bytes);
  result.num_alloc_retries = stats.retries;
  result.num_ooms = stats.out_of_memory;
  result.num_sync_all_streams = stats.synchronizations;
  result.num_device_alloc = stats.segment.all.allocated;
  result.num_device_free = stats.segment.all.freed;
  return result;
}

class BoundAllocator final : public c10::Allocator {
 public:
  explicit BoundAllocator(DeviceIndex device) : device_(device) {}
  c10::DataPtr allocate(size_t size) override { return allocate_on(device_, size); }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t size) const override {
    copy_within(device_, target, source, size);
  }

 private:
  DeviceIndex device_;
};

CurrentDeviceAllocator current_device_allocator;
REGISTER_ALLOCATOR(kTessiq, &current_device_allocator)

}  // namespace

c10::Allocator* allocator_for(DeviceIndex index) {
  device_at(index);
  static auto* bound = [] {
    auto* all = new std::vector<std::unique_ptr<BoundAllocator>>;
    for (int i = 0; i < registry().device_count(); ++i) {
      all->push_back(std::make_unique<BoundAllocator>(static_cast<DeviceIndex>(i)));
    }
    return all;
  }();
  return (*bound)[static_cast<size_t>(to_int(index))].get();
}

std::optional<DeviceIndex> owner_of(const void* pointer) {
  const std::optional<Block> block = owners().find(pointer);
  return block ? std::optional(block->device) : std::nullopt;
}

void record_data_on_stream(const c10::DataPtr& data, const c10::Stream& stream) {
  if (const std::optional<Block> block = owners().find(data.get())) {
    caching_allocator_at(block->device).record_stream(data.get(), from_torch(stream));
    return;
  }
  record_shared_storage_on_stream(data, stream);
}

}  // namespace tessiq::pytorch
