// What CudaDevice does around each CUDA call, over a stand-in library: ordinals, codes, the last error, streams.
#if TESSIQ_HAS_CUDA

#include "runtime/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/fake_cuda_runtime.h"

namespace tessiq {
namespace {

using testing_support::FakeCuda;
using testing_support::FakeCudaCall;

constexpr Stream kDefault{DeviceIndex{2}, 0};

class Cuda : public testing::Test {
 protected:
  void SetUp() override { fake.reset(); }

  FakeCuda& fake = FakeCuda::instance();
  CudaDevice device{FakeCuda::api(), DeviceIndex{2}, Ordinal{1}};
};

TEST_F(Cuda, ConstructingTouchesNothing) {
  const CudaDevice another(FakeCuda::api(), DeviceIndex{1}, Ordinal{0});
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(Cuda, ReadingPropertiesSelectsNothingAndAsksOnce) {
  EXPECT_EQ(device.properties()->name, "Fake GPU 1");
  EXPECT_EQ(device.properties()->compute_major, 9);
  EXPECT_EQ(fake.count("cudaSetDevice"), 0);
  EXPECT_EQ(fake.count("cudaGetDeviceProperties"), 1);
}

TEST_F(Cuda, SelectsItsOrdinalBeforeEveryCallWhateverWasCurrent) {
  void* memory = *device.allocate(Bytes{512});
  const Event event = *device.create_event(Timing::kYes);
  char byte = 0;
  const std::vector<std::function<void()>> actions = {
      [&] { (void)device.copy_to_device(memory, &byte, Bytes{1}, kDefault, Blocking::kYes); },
      [&] { (void)device.copy_to_host(&byte, memory, Bytes{1}, kDefault, Blocking::kYes); },
      [&] { (void)device.copy_on_device(memory, memory, Bytes{1}, kDefault); },
      [&] { (void)device.fill_bytes(memory, 0, Bytes{1}, kDefault); },
      [&] { (void)device.stream_from_pool(0); },
      [&] { (void)device.stream_is_done(kDefault); },
      [&] { (void)device.synchronize_stream(kDefault); },
      [&] { (void)device.synchronize(); },
      [&] { device.destroy_event(*device.create_event(Timing::kNo)); },
      [&] { (void)device.record_event(event, kDefault); },
      [&] { (void)device.wait_event(kDefault, event); },
      [&] { (void)device.event_is_done(event); },
      [&] { (void)device.synchronize_event(event); },
      [&] { (void)device.elapsed_milliseconds(event, event); },
      [&] { (void)device.memory_info(); },
      [&] { device.deallocate_pinned(*device.allocate_pinned(Bytes{1}), Bytes{1}); },
      [&] { device.deallocate(memory, Bytes{512}); },
  };
  for (size_t i = 0; i < actions.size(); ++i) {
    fake.calls.clear();
    fake.current_device = 0;  // as PyTorch's own CUDA code may leave it
    actions[i]();
    ASSERT_FALSE(fake.calls.empty()) << i;
    for (const FakeCudaCall& call : fake.calls) {
      EXPECT_TRUE(call.name == "cudaSetDevice" || call.device == 1) << call.name;
    }
  }
  device.destroy_event(event);
  EXPECT_EQ(fake.live_allocations, 0u);
  EXPECT_EQ(fake.live_events, 0u);
}

TEST_F(Cuda, ReportsOutOfMemoryWithNameMessageAndSize) {
  fake.fail_next("cudaMalloc", cudaErrorMemoryAllocation);
  const Result<void*> result = device.allocate(Bytes{4096});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(result.error().message(), "cudaMalloc of 4096 bytes: cudaErrorMemoryAllocation: out of memory");
}

TEST_F(Cuda, ReportsAnyOtherFailureAsExternal) {
  fake.fail_next("cudaMemcpyAsync", cudaErrorIllegalAddress);
  char byte = 0;
  const Result<void> result = device.copy_to_device(&byte, &byte, Bytes{1}, kDefault, Blocking::kYes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kExternal);
  EXPECT_NE(result.error().message().find("cudaErrorFake: a fake failure"), std::string::npos);
}

TEST_F(Cuda, DoesNotCallOnWhenTheOrdinalCannotBeSelected) {
  fake.fail_next("cudaSetDevice", cudaErrorInvalidDevice);
  EXPECT_FALSE(device.allocate(Bytes{512}));
  EXPECT_EQ(fake.count("cudaMalloc"), 0);
}

TEST_F(Cuda, LeavesNoLastErrorForPyTorchToFind) {
  fake.fail_next("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_FALSE(device.allocate(Bytes{512}));
  EXPECT_EQ(fake.last_error, cudaSuccess);

  fake.busy.insert(nullptr);
  EXPECT_EQ(*device.stream_is_done(kDefault), false);
  EXPECT_EQ(fake.last_error, cudaSuccess);
}

TEST_F(Cuda, EveryCallMayFailOnceAndTheNextWorks) {
  const std::vector<std::string> names = {"cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventQuery",
                                          "cudaEventSynchronize", "cudaStreamWaitEvent"};
  for (const std::string& name : names) {
    fake.reset();
    fake.fail_next(name, cudaErrorUnknown);
    int failures = 0;
    for (int round = 0; round < 2; ++round) {
      const Result<Event> event = device.create_event(Timing::kNo);
      if (!event) {
        ++failures;
        continue;
      }
      failures += !device.record_event(*event, kDefault) + !device.event_is_done(*event).ok() +
                  !device.synchronize_event(*event) + !device.wait_event(kDefault, *event);
      device.destroy_event(*event);
    }
    EXPECT_EQ(failures, 1) << name;
    EXPECT_EQ(fake.live_events, 0u) << name;
  }
}

TEST_F(Cuda, WaitsAfterABlockingCopyAndOnlyThen) {
  char byte = 0;
  ASSERT_TRUE(device.copy_to_device(&byte, &byte, Bytes{1}, kDefault, Blocking::kNo).ok());
  EXPECT_EQ(fake.count("cudaStreamSynchronize"), 0);
  ASSERT_TRUE(device.copy_to_host(&byte, &byte, Bytes{1}, kDefault, Blocking::kYes).ok());
  EXPECT_EQ(fake.count("cudaStreamSynchronize"), 1);
}

TEST_F(Cuda, TheDefaultStreamIsTheLegacyStream) { EXPECT_EQ(*device.native_stream(kDefault), nullptr); }

TEST_F(Cuda, PoolStreamsAreNonBlockingAndMadeOnce) {
  const Stream first = *device.stream_from_pool(0);
  while (*device.stream_from_pool(0) != first) {
  }
  EXPECT_EQ(fake.count("cudaStreamCreateWithPriority"), 32);
  for (const unsigned flags : fake.stream_flags) {
    EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  }
  EXPECT_NE(*device.native_stream(first), nullptr);
}

TEST_F(Cuda, HandsPrioritiesToCudaClampedToItsRange) {
  for (const int priority : {0, -1, -2, -9, 3}) {
    ASSERT_TRUE(device.stream_from_pool(priority).ok());
  }
  EXPECT_EQ(fake.stream_priorities, (std::vector<int>{0, -1, -2, -2, 0}));
}

TEST_F(Cuda, AStreamThatCouldNotBeMadeIsMadeNextTime) {
  fake.fail_next("cudaStreamCreateWithPriority", cudaErrorUnknown);
  EXPECT_FALSE(device.stream_from_pool(0));
  const Result<Stream> stream = device.stream_from_pool(0);
  ASSERT_TRUE(stream.ok());
  EXPECT_NE(*device.native_stream(*stream), nullptr);
}

TEST_F(Cuda, RefusesTheTimeOfEventsThatHaveNotPassed) {
  const Event event = *device.create_event(Timing::kYes);
  ASSERT_TRUE(device.record_event(event, kDefault).ok());
  fake.busy.insert(nullptr);
  EXPECT_EQ(device.elapsed_milliseconds(event, event).error().code(), ErrorCode::kInvalidArgument);
  fake.busy.clear();
  EXPECT_DOUBLE_EQ(*device.elapsed_milliseconds(event, event), 1.5);
  device.destroy_event(event);
}

TEST_F(Cuda, PinsForEveryGpu) {
  device.deallocate_pinned(*device.allocate_pinned(Bytes{100}), Bytes{100});
  EXPECT_EQ(fake.host_alloc_flags, static_cast<unsigned>(cudaHostAllocPortable));
}

TEST_F(Cuda, OpensThePathToAPeerOnce) {
  const CudaDevice peer(FakeCuda::api(), DeviceIndex{1}, Ordinal{0});
  EXPECT_TRUE(device.can_access_peer(peer));
  EXPECT_TRUE(device.can_access_peer(peer));
  EXPECT_EQ(fake.count("cudaDeviceEnablePeerAccess"), 1);
}

TEST_F(Cuda, TakesAPathThatPyTorchOpenedBefore) {
  const CudaDevice peer(FakeCuda::api(), DeviceIndex{1}, Ordinal{0});
  fake.fail_next("cudaDeviceEnablePeerAccess", cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_TRUE(device.can_access_peer(peer));
  EXPECT_EQ(fake.last_error, cudaSuccess);
}

TEST_F(Cuda, HasNoPathWhereTheHardwareHasNone) {
  fake.peers = false;
  const CudaDevice peer(FakeCuda::api(), DeviceIndex{1}, Ordinal{0});
  EXPECT_FALSE(device.can_access_peer(peer));
  EXPECT_EQ(fake.count("cudaDeviceEnablePeerAccess"), 0);
}

TEST_F(Cuda, LogsAFreeThatFails) {
  void* memory = *device.allocate(Bytes{512});
  fake.fail_next("cudaFree", cudaErrorUnknown);
  testing::internal::CaptureStderr();
  device.deallocate(memory, Bytes{512});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cudaFree of 512 bytes: cudaErrorFake"), std::string::npos);
  device.deallocate(memory, Bytes{512});
}

TEST_F(Cuda, IsSilentAboutAFreeAfterTheDriverHasGone) {
  void* memory = *device.allocate(Bytes{512});
  fake.fail_next("cudaFree", cudaErrorCudartUnloading);
  testing::internal::CaptureStderr();
  device.deallocate(memory, Bytes{512});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  device.deallocate(memory, Bytes{512});
}

}  // namespace
}  // namespace tessiq

#endif
