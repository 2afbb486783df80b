// Pinned memory: who pins, what counts as pinned, and the wait before it is freed.
#include "runtime/pinned_allocator.h"

#include <gtest/gtest.h>

#include "runtime/host/host_device.h"

#if TESSIQ_HAS_CUDA
#include "runtime/cuda/cuda_device.h"
#include "runtime/fake_cuda_runtime.h"
#endif

namespace tessiq {
namespace {

std::vector<std::unique_ptr<Device>> host_only() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<HostDevice>(DeviceIndex{0}));
  return devices;
}

class Pinned : public testing::Test {
 protected:
  const DeviceRegistry registry{host_only()};
  PinnedAllocator allocator{registry};
};

TEST_F(Pinned, CountsEveryAddressOfALiveBlockAsPinned) {
  auto* block = static_cast<char*>(*allocator.allocate(Bytes{1000}));
  EXPECT_TRUE(allocator.is_pinned(block));
  EXPECT_TRUE(allocator.is_pinned(block + 999));
  EXPECT_EQ(allocator.stats().bytes.current, 1000);
  allocator.deallocate(block);
}

TEST_F(Pinned, DoesNotCountAddressesOutsideOrFreed) {
  auto* block = static_cast<char*>(*allocator.allocate(Bytes{1000}));
  int elsewhere = 0;
  EXPECT_FALSE(allocator.is_pinned(block + 1000));
  EXPECT_FALSE(allocator.is_pinned(block - 1));
  EXPECT_FALSE(allocator.is_pinned(&elsewhere));
  EXPECT_FALSE(allocator.is_pinned(nullptr));
  allocator.deallocate(block);
  EXPECT_FALSE(allocator.is_pinned(block));
  EXPECT_EQ(allocator.stats().blocks.current, 0);
}

TEST_F(Pinned, GivesANullPointerForZeroBytes) {
  EXPECT_EQ(*allocator.allocate(Bytes{0}), nullptr);
  allocator.deallocate(nullptr);
}

TEST_F(Pinned, ReportsAPointerItDidNotHandOut) {
  int elsewhere = 0;
  testing::internal::CaptureStderr();
  allocator.deallocate(&elsewhere);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("did not hand out"), std::string::npos);
}

TEST_F(Pinned, ReportsMemoryThatIsNotThere) {
  EXPECT_EQ(allocator.allocate(Bytes{SIZE_MAX}).error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(allocator.stats().blocks.current, 0);
}

#if TESSIQ_HAS_CUDA
class PinnedByGpu : public testing::Test {
 protected:
  PinnedByGpu() {
    fake.reset();
    auto devices = host_only();
    devices.push_back(std::make_unique<CudaDevice>(testing_support::FakeCuda::api(), DeviceIndex{1}, Ordinal{0}));
    registry = std::make_unique<DeviceRegistry>(std::move(devices));
    allocator = std::make_unique<PinnedAllocator>(*registry);
  }

  testing_support::FakeCuda& fake = testing_support::FakeCuda::instance();
  std::unique_ptr<DeviceRegistry> registry;
  std::unique_ptr<PinnedAllocator> allocator;
};

TEST_F(PinnedByGpu, WaitsForTheGpuBeforeItFrees) {
  void* block = *allocator->allocate(Bytes{1000});
  fake.calls.clear();
  allocator->deallocate(block);
  std::vector<std::string> names;
  for (const auto& call : fake.calls) {
    names.push_back(call.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"cudaSetDevice", "cudaDeviceSynchronize", "cudaFreeHost"}));
}

TEST_F(PinnedByGpu, FreesAlsoWhenTheGpuHasFailed) {
  void* block = *allocator->allocate(Bytes{1000});
  fake.fail_next("cudaDeviceSynchronize", cudaErrorIllegalAddress);
  testing::internal::CaptureStderr();
  allocator->deallocate(block);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cudaErrorFake"), std::string::npos);
  EXPECT_EQ(fake.live_allocations, 0u);
}

TEST_F(PinnedByGpu, ReportsThatNothingCouldBePinned) {
  fake.fail_next("cudaHostAlloc", cudaErrorMemoryAllocation);
  EXPECT_EQ(allocator->allocate(Bytes{1000}).error().code(), ErrorCode::kResourceExhausted);
  const Result<void*> next = allocator->allocate(Bytes{1000});
  ASSERT_TRUE(next.ok());
  allocator->deallocate(*next);
}
#endif

}  // namespace
}  // namespace tessiq
