// What only a real GPU can show: laziness, overlap, and that memory is not reused under a stream that still uses it.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda_api/cuda_error.h"
#include "runtime/caching_allocator.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/discovery.h"
#include "runtime/pinned_allocator.h"

namespace tessiq {
namespace {

constexpr DeviceIndex kIndex{1};
constexpr Stream kDefault{kIndex, 0};
// Filling this much takes a fast card a good part of a millisecond.
constexpr size_t kBig = size_t{1} << 30;

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    found = discover_cuda_devices(kIndex);
    if (found.devices.empty()) {
      GTEST_SKIP() << found.note;
    }
  }
  void TearDown() override {
    if (big != nullptr) {
      EXPECT_TRUE(device().synchronize().ok());
      device().deallocate(big, Bytes{kBig});
    }
  }
  Device& device() { return *found.devices.front(); }

  // Queues some tens of milliseconds of work.
  void keep_busy(Stream stream) {
    if (big == nullptr) {
      Result<void*> memory = device().allocate(Bytes{kBig});
      ASSERT_TRUE(memory.ok()) << memory.error().message();
      big = *memory;
    }
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(device().fill_bytes(big, static_cast<uint8_t>(i), Bytes{kBig}, stream).ok());
    }
  }

  CudaDiscovery found;
  void* big = nullptr;
};

bool context_exists() {
  const CudaDriverApi& driver = **cuda_driver_api();
  CUdevice unit = 0;
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(driver.cuDeviceGet(&unit, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDevicePrimaryCtxGetState(unit, &flags, &active), CUDA_SUCCESS);
  return active != 0;
}

TEST_F(Gpu, IsNotStartedByDiscoveryPropertiesOrWaiting) {
  if (context_exists()) {
    GTEST_SKIP() << "an earlier test of this process started the GPU; run this one alone";
  }
  EXPECT_GT(device().properties()->total_memory.value, 0u);
  EXPECT_TRUE(device().synchronize().ok());
  EXPECT_FALSE(context_exists());
  device().deallocate(*device().allocate(Bytes{512}), Bytes{512});
  EXPECT_TRUE(context_exists());
}

TEST_F(Gpu, ReturnsBeforeQueuedWorkIsDone) {
  const Event event = *device().create_event(Timing::kNo);
  keep_busy(kDefault);
  ASSERT_TRUE(device().record_event(event, kDefault).ok());
  EXPECT_EQ(*device().event_is_done(event), false);
  EXPECT_EQ(*device().stream_is_done(kDefault), false);
  ASSERT_TRUE(device().synchronize_event(event).ok());
  EXPECT_EQ(*device().event_is_done(event), true);
  device().destroy_event(event);
}

TEST_F(Gpu, MeasuresTheWorkBetweenTwoEvents) {
  const Event start = *device().create_event(Timing::kYes);
  const Event end = *device().create_event(Timing::kYes);
  ASSERT_TRUE(device().record_event(start, kDefault).ok());
  keep_busy(kDefault);
  ASSERT_TRUE(device().record_event(end, kDefault).ok());
  EXPECT_EQ(device().elapsed_milliseconds(start, end).error().code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(device().synchronize_event(end).ok());
  EXPECT_GT(*device().elapsed_milliseconds(start, end), 1.0);
  device().destroy_event(start);
  device().destroy_event(end);
}

TEST_F(Gpu, RunsAPoolStreamBesideTheDefaultStream) {
  const Stream stream = *device().stream_from_pool(0);
  void* small = *device().allocate(Bytes{512});
  keep_busy(kDefault);
  ASSERT_TRUE(device().fill_bytes(small, 1, Bytes{512}, stream).ok());
  ASSERT_TRUE(device().synchronize_stream(stream).ok());
  EXPECT_EQ(*device().stream_is_done(kDefault), false);
  ASSERT_TRUE(device().synchronize().ok());
  device().deallocate(small, Bytes{512});
}

TEST_F(Gpu, DoesNotReuseABlockUnderAStreamThatUsesIt) {
  CachingAllocator allocator(device(), AllocatorMode::kCaching);
  const Stream stream = *device().stream_from_pool(0);
  void* block = *allocator.allocate(Bytes{4096}, kDefault);
  keep_busy(stream);
  ASSERT_TRUE(device().fill_bytes(block, 7, Bytes{4096}, stream).ok());
  allocator.record_stream(block, stream);
  allocator.deallocate(block);
  void* other = *allocator.allocate(Bytes{4096}, kDefault);
  EXPECT_NE(other, block);
  ASSERT_TRUE(device().synchronize_stream(stream).ok());
  EXPECT_EQ(*allocator.allocate(Bytes{4096}, kDefault), block);
  allocator.deallocate(other);
  allocator.deallocate(block);
}

TEST_F(Gpu, EmptiesTheCacheToServeARequestThatDoesNotFit) {
  CachingAllocator allocator(device(), AllocatorMode::kCaching);
  const MemoryInfo info = *device().memory_info();
  const Bytes most{info.free.value / 10 * 7};
  allocator.deallocate(*allocator.allocate(most, kDefault));
  const Result<void*> next = allocator.allocate(Bytes{most.value + (size_t{4} << 20)}, kDefault);
  ASSERT_TRUE(next.ok()) << next.error().message();
  EXPECT_EQ(allocator.stats().retries, 1);
  allocator.deallocate(*next);
}

TEST_F(Gpu, GivesCachedMemoryBackToTheDriver) {
  CachingAllocator allocator(device(), AllocatorMode::kCaching);
  const size_t before = device().memory_info()->free.value;
  void* block = *allocator.allocate(Bytes{kBig}, kDefault);
  EXPECT_LE(device().memory_info()->free.value + kBig / 2, before);
  allocator.deallocate(block);
  EXPECT_EQ(allocator.empty_cache().value, kBig);
  EXPECT_GE(device().memory_info()->free.value + kBig / 2, before);
}

TEST_F(Gpu, FreesPinnedMemoryOnlyAfterTheCopyThatReadsIt) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<CudaDevice>(**cuda_runtime_api(), DeviceIndex{0}, Ordinal{0}));
  const DeviceRegistry registry(std::move(devices));
  PinnedAllocator pinned(registry);
  constexpr size_t kSize = 64 << 20;
  auto* host = static_cast<uint8_t*>(*pinned.allocate(Bytes{kSize}));
  std::fill(host, host + kSize, uint8_t{5});
  void* memory = *device().allocate(Bytes{kSize});
  keep_busy(kDefault);
  ASSERT_TRUE(device().copy_to_device(memory, host, Bytes{kSize}, kDefault, Blocking::kNo).ok());
  EXPECT_EQ(*device().stream_is_done(kDefault), false);
  pinned.deallocate(host);
  EXPECT_EQ(*device().stream_is_done(kDefault), true);
  std::vector<uint8_t> seen(kSize);
  ASSERT_TRUE(device().copy_to_host(seen.data(), memory, Bytes{kSize}, kDefault, Blocking::kYes).ok());
  EXPECT_EQ(seen, std::vector<uint8_t>(kSize, 5));
  device().deallocate(memory, Bytes{kSize});
}

TEST_F(Gpu, CopiesBetweenTwoGpusWhereThereAreTwo) {
  if (found.devices.size() < 2) {
    GTEST_SKIP() << "this machine has one GPU";
  }
  Device& peer = *found.devices[1];
  const Stream peer_stream{DeviceIndex{2}, 0};
  void* source = *device().allocate(Bytes{4096});
  void* target = *peer.allocate(Bytes{4096});
  (void)peer.can_access_peer(device());
  ASSERT_TRUE(device().fill_bytes(source, 9, Bytes{4096}, kDefault).ok());
  const Event filled = *device().create_event(Timing::kNo);
  ASSERT_TRUE(device().record_event(filled, kDefault).ok());
  ASSERT_TRUE(peer.wait_event(peer_stream, filled).ok());
  ASSERT_TRUE(peer.copy_on_device(target, source, Bytes{4096}, peer_stream).ok());
  std::vector<uint8_t> seen(4096);
  ASSERT_TRUE(peer.copy_to_host(seen.data(), target, Bytes{4096}, peer_stream, Blocking::kYes).ok());
  EXPECT_EQ(seen, std::vector<uint8_t>(4096, 9));
  device().destroy_event(filled);
  device().deallocate(source, Bytes{4096});
  peer.deallocate(target, Bytes{4096});
}

}  // namespace
}  // namespace tessiq

#endif
