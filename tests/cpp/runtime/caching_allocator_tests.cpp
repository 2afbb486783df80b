// The caching allocator on one thread: size classes, reuse, streams, running out, and what the counters say.
#include "runtime/caching_allocator.h"

#include <gtest/gtest.h>

#include "runtime/fault_device.h"

namespace tessiq {
namespace {

using testing_support::FaultDevice;

constexpr size_t kMiB = size_t{1} << 20;
constexpr Stream kDefault{DeviceIndex{0}, 0};
constexpr Stream kFirst{DeviceIndex{0}, 1};
constexpr Stream kSecond{DeviceIndex{0}, 2};

class Allocator : public testing::Test {
 protected:
  void* take(size_t size, Stream stream = kDefault) {
    Result<void*> result = allocator.allocate(Bytes{size}, stream);
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message());
    return result ? *result : nullptr;
  }
  void TearDown() override { EXPECT_FALSE(device.misused()); }

  FaultDevice device;
  CachingAllocator allocator{device, AllocatorMode::kCaching};
};

TEST_F(Allocator, RoundsSmallRequestsTo512BytesAndLargeOnesTo2MiB) {
  EXPECT_EQ(CachingAllocator::size_class(Bytes{1}).value, 512u);
  EXPECT_EQ(CachingAllocator::size_class(Bytes{512}).value, 512u);
  EXPECT_EQ(CachingAllocator::size_class(Bytes{513}).value, 1024u);
  EXPECT_EQ(CachingAllocator::size_class(Bytes{kMiB - 1}).value, kMiB);
  EXPECT_EQ(CachingAllocator::size_class(Bytes{kMiB}).value, 2 * kMiB);
  EXPECT_EQ(CachingAllocator::size_class(Bytes{2 * kMiB + 1}).value, 4 * kMiB);
}

TEST_F(Allocator, ServesTheSameSizeAgainFromTheCache) {
  void* first = take(4000);
  allocator.deallocate(first);
  EXPECT_EQ(take(4000), first);
  const AllocatorStats stats = allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.all.current, 4096);
  EXPECT_EQ(stats.reserved_bytes.all.current, 4096);
  EXPECT_EQ(stats.requested_bytes.all.current, 4000);
  EXPECT_EQ(stats.cache_hits, 1);
  EXPECT_EQ(stats.cache_misses, 1);
}

TEST_F(Allocator, ServesAnotherSizeOfTheSameClassFromTheCache) {
  void* first = take(4000);
  allocator.deallocate(first);
  EXPECT_EQ(take(3600), first);
}

TEST_F(Allocator, DoesNotServeAnotherClassFromTheCache) {
  allocator.deallocate(take(4000));
  take(5000);
  EXPECT_EQ(allocator.stats().cache_hits, 0);
}

TEST_F(Allocator, DoesNotServeAnotherStreamFromTheCache) {
  void* first = take(4000, kFirst);
  allocator.deallocate(first);
  EXPECT_NE(take(4000, kSecond), first);
  EXPECT_EQ(take(4000, kFirst), first);
}

TEST_F(Allocator, FreeingKeepsTheMemoryReserved) {
  allocator.deallocate(take(3 * kMiB));
  EXPECT_EQ(device.live_blocks(), 1u);
  const AllocatorStats stats = allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.all.current, 0);
  EXPECT_EQ(stats.reserved_bytes.large_pool.current, static_cast<int64_t>(4 * kMiB));
  EXPECT_EQ(stats.segment.large_pool.current, 1);
}

TEST_F(Allocator, ZeroBytesAreANullPointerAndNoDriverCall) {
  EXPECT_EQ(take(0), nullptr);
  allocator.deallocate(nullptr);
  allocator.record_stream(nullptr, kFirst);
  EXPECT_EQ(device.calls(), 0);
}

TEST_F(Allocator, EmptyingTheCacheGivesBackFreeBlocksOnly) {
  void* live = take(1000);
  allocator.deallocate(take(5000));
  EXPECT_EQ(allocator.empty_cache().value, 5120u);
  EXPECT_EQ(device.live_blocks(), 1u);
  EXPECT_EQ(allocator.empty_cache().value, 0u);
  allocator.deallocate(live);
}

TEST_F(Allocator, HoldsABlockBackUntilARecordedStreamHasPassed) {
  void* block = take(4000);
  allocator.record_stream(block, kFirst);
  device.keep_busy(kFirst);
  allocator.deallocate(block);
  EXPECT_EQ(allocator.stats().allocated_bytes.all.current, 0);
  EXPECT_EQ(allocator.stats().active_bytes.all.current, 4096);
  void* other = take(4000);
  EXPECT_NE(other, block);

  device.finish(kFirst);
  EXPECT_EQ(take(4000), block);
  EXPECT_EQ(device.live_events(), 0u);
}

TEST_F(Allocator, HoldsABlockBackUntilAllOfItsStreamsHavePassed) {
  void* block = take(4000);
  for (const Stream stream : {kFirst, kSecond, kFirst}) {
    allocator.record_stream(block, stream);
    device.keep_busy(stream);
  }
  allocator.deallocate(block);
  EXPECT_EQ(device.live_events(), 2u);
  device.finish(kSecond);
  EXPECT_NE(take(4000), block);
  device.finish(kFirst);
  EXPECT_EQ(take(4000), block);
}

TEST_F(Allocator, RecordingTheBlocksOwnStreamHoldsNothingBack) {
  void* block = take(4000, kFirst);
  allocator.record_stream(block, kFirst);
  device.keep_busy(kFirst);
  allocator.deallocate(block);
  EXPECT_EQ(take(4000, kFirst), block);
  EXPECT_EQ(device.count("create_event"), 0);
}

TEST_F(Allocator, ARecordedStreamIsForgottenWhenTheBlockIsReused) {
  void* block = take(4000);
  allocator.record_stream(block, kFirst);
  allocator.deallocate(block);
  EXPECT_EQ(take(4000), block);
  allocator.deallocate(block);
  EXPECT_EQ(device.count("create_event"), 1);
}

TEST_F(Allocator, EmptyingTheCacheWaitsForRecordedStreams) {
  void* block = take(4000);
  allocator.record_stream(block, kFirst);
  device.keep_busy(kFirst);
  allocator.deallocate(block);
  EXPECT_EQ(allocator.empty_cache().value, 4096u);
  EXPECT_EQ(device.count("synchronize_event"), 1);
  EXPECT_EQ(allocator.stats().synchronizations, 1);
  EXPECT_EQ(allocator.stats().active_bytes.all.current, 0);
}

TEST_F(Allocator, IgnoresRecordingAPointerItDidNotHandOut) {
  int elsewhere = 0;
  allocator.record_stream(&elsewhere, kFirst);
  EXPECT_EQ(device.calls(), 0);
}

TEST_F(Allocator, ReportsAPointerThatIsFreedTwice) {
  void* block = take(4000);
  allocator.deallocate(block);
  testing::internal::CaptureStderr();
  allocator.deallocate(block);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("freed twice"), std::string::npos);
  EXPECT_EQ(allocator.stats().allocated_bytes.all.current, 0);
}

TEST_F(Allocator, EmptiesTheCacheAndAsksAgainWhenTheDriverRefuses) {
  device.limit_bytes(8192);
  allocator.deallocate(take(8000));
  take(4000);
  EXPECT_EQ(allocator.stats().retries, 1);
  EXPECT_EQ(allocator.stats().out_of_memory, 0);
  EXPECT_EQ(allocator.stats().reserved_bytes.all.current, 4096);
}

TEST_F(Allocator, FailsWithTheDriversErrorWhenNothingWasCached) {
  device.limit_bytes(8192);
  const Result<void*> result = allocator.allocate(Bytes{10000}, kDefault);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(result.error().message(), "the fault device is full");
  EXPECT_EQ(device.count("allocate"), 1);
  EXPECT_EQ(allocator.stats().retries, 0);
  EXPECT_EQ(allocator.stats().out_of_memory, 1);
}

TEST_F(Allocator, NamesTheReleasedBytesWhenTheSecondAttemptFailsToo) {
  device.limit_bytes(8192);
  allocator.deallocate(take(8000));
  const Result<void*> result = allocator.allocate(Bytes{10000}, kDefault);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(result.error().message().find("releasing 8192 cached bytes"), std::string::npos)
      << result.error().message();
  EXPECT_EQ(allocator.stats().retries, 1);
  EXPECT_EQ(allocator.stats().out_of_memory, 1);
}

TEST_F(Allocator, RefusesASizeThatCannotBeRoundedUp) {
  const Result<void*> result = allocator.allocate(Bytes{SIZE_MAX}, kDefault);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(device.calls(), 0);
}

TEST_F(Allocator, ResettingPeaksStartsThemAtTheCurrentValue) {
  allocator.deallocate(take(4000));
  EXPECT_EQ(allocator.stats().allocated_bytes.all.peak, 4096);
  allocator.reset_peak_stats();
  EXPECT_EQ(allocator.stats().allocated_bytes.all.peak, 0);
  EXPECT_EQ(allocator.stats().reserved_bytes.all.peak, 4096);
}

TEST_F(Allocator, ResettingTotalsKeepsWhatIsLive) {
  take(4000);
  allocator.reset_accumulated_stats();
  const AllocatorStats stats = allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.all.current, 4096);
  EXPECT_EQ(stats.allocated_bytes.all.allocated, 0);
  EXPECT_EQ(stats.cache_misses, 0);
}

TEST(AllocatorEnd, GivesCachedBlocksBack) {
  FaultDevice device;
  {
    CachingAllocator allocator(device, AllocatorMode::kCaching);
    allocator.deallocate(*allocator.allocate(Bytes{4000}, kDefault));
  }
  EXPECT_EQ(device.live_blocks(), 0u);
}

}  // namespace
}  // namespace tessiq
