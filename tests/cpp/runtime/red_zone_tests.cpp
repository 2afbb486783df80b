// The debug mode: an overrun by one byte, on either side, is found when the block is freed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "runtime/caching_allocator.h"
#include "runtime/fault_device.h"
#include "runtime/null/null_device.h"

namespace tessiq {
namespace {

using testing_support::FaultDevice;

constexpr Stream kDefault{DeviceIndex{0}, 0};

class RedZone : public testing::Test {
 protected:
  char* take(size_t size) { return static_cast<char*>(*allocator.allocate(Bytes{size}, kDefault)); }
  std::string free_and_capture(void* block) {
    testing::internal::CaptureStderr();
    allocator.deallocate(block);
    return testing::internal::GetCapturedStderr();
  }

  FaultDevice device;
  CachingAllocator allocator{device, AllocatorMode::kRedZones};
};

TEST_F(RedZone, AcceptsABlockWrittenToItsLastByte) {
  char* block = take(1001);
  std::fill(block, block + 1001, '\1');
  EXPECT_EQ(free_and_capture(block), "");
  EXPECT_EQ(allocator.stats().red_zone_violations, 0);
}

TEST_F(RedZone, FindsOneBytePastTheEnd) {
  char* block = take(1001);
  block[1001] = 0;
  EXPECT_NE(free_and_capture(block).find("1001 bytes was overrun: the byte 0 past its end"), std::string::npos);
  EXPECT_EQ(allocator.stats().red_zone_violations, 1);
}

TEST_F(RedZone, FindsOneByteBeforeTheStart) {
  char* block = take(1001);
  block[-1] = 0;
  EXPECT_NE(free_and_capture(block).find("the byte 1 before its start"), std::string::npos);
}

TEST_F(RedZone, KeepsNoCacheAndRoundsNothing) {
  allocator.deallocate(take(4000));
  EXPECT_EQ(device.live_blocks(), 0u);
  EXPECT_EQ(allocator.stats().allocated_bytes.all.peak, 4000);
}

TEST_F(RedZone, KeepsTheAlignmentOfBlocks) {
  char* block = take(1001);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kDeviceAlignment, 0u);
  allocator.deallocate(block);
}

TEST_F(RedZone, IsRefusedByADeviceThatKeepsNoContents) {
  NullDevice null_device{DeviceIndex{0}};
  CachingAllocator on_null(null_device, AllocatorMode::kRedZones);
  const Result<void*> result = on_null.allocate(Bytes{1000}, kDefault);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnsupported);
}

TEST(RedZoneSwitch, IsOnlyOnWhenTheEnvironmentSaysOne) {
  unsetenv("TESSIQ_ALLOCATOR_DEBUG");
  EXPECT_EQ(allocator_mode_from_environment(), AllocatorMode::kCaching);
  setenv("TESSIQ_ALLOCATOR_DEBUG", "0", 1);
  EXPECT_EQ(allocator_mode_from_environment(), AllocatorMode::kCaching);
  setenv("TESSIQ_ALLOCATOR_DEBUG", "1", 1);
  EXPECT_EQ(allocator_mode_from_environment(), AllocatorMode::kRedZones);
  unsetenv("TESSIQ_ALLOCATOR_DEBUG");
}

}  // namespace
}  // namespace tessiq
