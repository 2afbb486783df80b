// One driver call fails, at every position in turn: an error or none, no leak, no early reuse, and the next call works.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/caching_allocator.h"
#include "runtime/fault_device.h"
#include "support/log.h"

namespace tessiq {
namespace {

using testing_support::FaultDevice;

constexpr Stream kDefault{DeviceIndex{0}, 0};
constexpr Stream kOther{DeviceIndex{0}, 1};

class Quiet : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view, std::string_view) {});
  }
  void TearDown() override { set_log_sink({}); }
};

// Takes, shares, frees and empties; an allocation that fails is left out, as its caller would.
void scenario(CachingAllocator& allocator) {
  std::vector<void*> live;
  for (const size_t size : {4000u, 4000u, 70000u, 3000000u}) {
    if (Result<void*> block = allocator.allocate(Bytes{size}, kDefault)) {
      allocator.record_stream(*block, kOther);
      live.push_back(*block);
    }
  }
  for (void* block : live) {
    allocator.deallocate(block);
  }
  if (Result<void*> again = allocator.allocate(Bytes{4000}, kDefault)) {
    allocator.deallocate(*again);
  }
  allocator.empty_cache();
}

class AllocatorFaults : public Quiet, public testing::WithParamInterface<AllocatorMode> {};

TEST_P(AllocatorFaults, EveryCallMayFailOnceWithoutALeak) {
  FaultDevice counted;
  {
    CachingAllocator allocator(counted, GetParam());
    scenario(allocator);
  }
  ASSERT_GT(counted.calls(), 8);
  for (int position = 0; position < counted.calls(); ++position) {
    SCOPED_TRACE("failing call " + std::to_string(position));
    FaultDevice device;
    CachingAllocator allocator(device, GetParam());
    device.fail_call(position);
    scenario(allocator);

    const Result<void*> next = allocator.allocate(Bytes{4000}, kDefault);
    ASSERT_TRUE(next.ok());
    allocator.deallocate(*next);
    allocator.empty_cache();
    EXPECT_EQ(device.live_blocks(), 0u);
    EXPECT_EQ(device.live_events(), 0u);
    EXPECT_FALSE(device.misused());
    const AllocatorStats stats = allocator.stats();
    EXPECT_EQ(stats.reserved_bytes.all.current, 0);
    EXPECT_EQ(stats.active_bytes.all.current, 0);
    EXPECT_EQ(stats.allocation.all.current, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AllocatorFaults, testing::Values(AllocatorMode::kCaching, AllocatorMode::kRedZones),
                         [](const auto& mode) {
                           return mode.param == AllocatorMode::kCaching ? "caching" : "red_zones";
                         });

class EventFaults : public Quiet {};

TEST_F(EventFaults, ABlockIsNotReusedWhenItsStreamCouldNotBeMarked) {
  FaultDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  void* block = *allocator.allocate(Bytes{4000}, kDefault);
  allocator.record_stream(block, kOther);
  device.keep_busy(kOther);
  device.fail_call(device.calls());  // create_event
  allocator.deallocate(block);
  EXPECT_NE(*allocator.allocate(Bytes{4000}, kDefault), block);
  device.finish(kOther);
  EXPECT_EQ(*allocator.allocate(Bytes{4000}, kDefault), block);
}

TEST_F(EventFaults, ABlockStaysHeldBackWhenItsStreamCannotBeWaitedFor) {
  FaultDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  void* block = *allocator.allocate(Bytes{4000}, kDefault);
  allocator.record_stream(block, kOther);
  device.keep_busy(kOther);
  allocator.deallocate(block);
  device.fail_call(device.calls());  // synchronize_event
  EXPECT_EQ(allocator.empty_cache().value, 0u);
  EXPECT_EQ(device.live_blocks(), 1u);
  EXPECT_EQ(allocator.empty_cache().value, 4096u);
}

TEST_F(EventFaults, AFullDeviceRecoversOnceMemoryIsThere) {
  FaultDevice device;
  CachingAllocator allocator(device, AllocatorMode::kCaching);
  device.fail_every_allocation(true);
  EXPECT_FALSE(allocator.allocate(Bytes{4000}, kDefault));
  EXPECT_FALSE(allocator.allocate(Bytes{4000}, kDefault));
  device.fail_every_allocation(false);
  EXPECT_TRUE(allocator.allocate(Bytes{4000}, kDefault).ok());
  EXPECT_EQ(allocator.stats().out_of_memory, 2);
}

}  // namespace
}  // namespace tessiq
