// The allocator from several threads at once: no block has two owners, and the books balance. Meant for TSan too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/caching_allocator.h"
#include "runtime/host/host_device.h"
#include "runtime/inline_streams.h"
#include "runtime/pinned_allocator.h"

namespace tessiq {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 400;

// Notices two threads inside allocate or deallocate at once. Its memory is never touched.
class SerialDevice final : public InlineStreamDevice {
 public:
  SerialDevice() : InlineStreamDevice(DeviceIndex{0}, DeviceKind::kNull) {}

  bool overlapped() const { return overlapped_; }

  DeviceKind kind() const override { return DeviceKind::kNull; }
  Ordinal ordinal() const override { return Ordinal{0}; }
  Result<DeviceProperties> properties() override { return DeviceProperties{}; }
  Result<void*> allocate(Bytes size) override {
    const Inside inside(*this);
    return allocate_host_memory(size);
  }
  void deallocate(void* pointer, Bytes) noexcept override {
    const Inside inside(*this);
    std::free(pointer);
  }
  Result<void> copy_to_device(void*, const void*, Bytes, Stream, Blocking) override { return {}; }
  Result<void> copy_to_host(void*, const void*, Bytes, Stream, Blocking) override { return {}; }
  Result<void> copy_on_device(void*, const void*, Bytes, Stream) override { return {}; }
  Result<void> fill_bytes(void*, uint8_t, Bytes, Stream) override { return {}; }

 private:
  struct Inside {
    explicit Inside(SerialDevice& owner) : device(owner) {
      if (device.inside_.fetch_add(1) != 0) {
        device.overlapped_ = true;
      }
      std::this_thread::yield();
    }
    ~Inside() { device.inside_.fetch_sub(1); }
    SerialDevice& device;
  };

  std::atomic<int> inside_{0};
  std::atomic<bool> overlapped_{false};
};

// Runs `body(thread)` on every thread and joins them.
template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&body, i] { body(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// A block marked with its owner's number keeps the mark while it is owned.
bool keeps_its_mark(CachingAllocator& allocator, int owner, size_t size) {
  const Stream stream{DeviceIndex{0}, owner % 2};
  const Result<void*> block = allocator.allocate(Bytes{size}, stream);
  if (!block) {
    return false;
  }
  auto* bytes = static_cast<unsigned char*>(*block);
  std::memset(bytes, owner, size);
  std::this_thread::yield();
  const bool kept = bytes[0] == owner && bytes[size - 1] == owner;
  if (size % 3 == 0) {
    allocator.record_stream(*block, Stream{DeviceIndex{0}, 1 - owner % 2});
  }
  allocator.deallocate(*block);
  return kept;
}

TEST(AllocatorThreads, NoBlockHasTwoOwnersAndTheBooksBalance) {
  HostDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  std::atomic<int> broken{0};
  on_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      broken += !keeps_its_mark(allocator, thread, static_cast<size_t>(500 + 700 * (round % 5)));
    }
  });
  EXPECT_EQ(broken, 0);
  allocator.empty_cache();
  const AllocatorStats stats = allocator.stats();
  EXPECT_EQ(stats.allocation.all.allocated, kThreads * kRounds);
  EXPECT_EQ(stats.cache_hits + stats.cache_misses, kThreads * kRounds);
  EXPECT_EQ(stats.active_bytes.all.current, 0);
  EXPECT_EQ(stats.reserved_bytes.all.current, 0);
}

TEST(AllocatorThreads, EmptyingTheCacheBesideOthersHarmsNoOne) {
  HostDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  std::atomic<int> broken{0};
  on_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0) {
        allocator.empty_cache();
        (void)allocator.stats();
      } else {
        broken += !keeps_its_mark(allocator, thread, 3000);
      }
    }
  });
  EXPECT_EQ(broken, 0);
}

TEST(AllocatorThreads, TheDeviceIsAskedByOneThreadAtATime) {
  SerialDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  on_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      allocator.deallocate(*allocator.allocate(Bytes{512 * static_cast<size_t>(1 + thread + round % 7)}, Stream{}));
      if (round % 5 == 0) {
        allocator.empty_cache();
      }
    }
  });
  EXPECT_FALSE(device.overlapped());
}

TEST(AllocatorThreads, ABlockMayBeFreedByAnotherThread) {
  HostDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  void* block = *allocator.allocate(Bytes{4000}, Stream{});
  std::thread([&] { allocator.deallocate(block); }).join();
  EXPECT_EQ(allocator.stats().allocated_bytes.all.current, 0);
}

TEST(AllocatorThreads, PinnedBlocksAreKeptApart) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<HostDevice>());
  const DeviceRegistry registry(std::move(devices));
  PinnedAllocator allocator(registry);
  std::atomic<int> broken{0};
  on_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      void* block = *allocator.allocate(Bytes{256});
      broken += !allocator.is_pinned(block);
      allocator.deallocate(block);
    }
  });
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(allocator.stats().blocks.current, 0);
}

}  // namespace
}  // namespace tessiq
