// What every Device promises, checked for each: host, null, CUDA over a stand-in library, and each GPU that is there.
//
// A port adds a row to kUnits and is done when nothing here is skipped for it but what its hardware truly lacks. Each
// skip says why.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda/discovery.h"
#include "runtime/host/host_device.h"
#include "runtime/null/null_device.h"

#if TESSIQ_HAS_CUDA
#include "runtime/cuda/cuda_device.h"
#include "runtime/fake_cuda_runtime.h"
#endif

namespace tessiq {
namespace {

// No device is given index 0 throughout, so that code which assumes an index fails here.
constexpr DeviceIndex kIndex{1};

struct Unit {
  std::string name;
  std::unique_ptr<Device> device;  // null where this machine has none
  bool keeps_contents = true;
  size_t impossible_bytes = SIZE_MAX - 4096;
  std::string why_absent;
};

Unit make_host() { return {"host", std::make_unique<HostDevice>(kIndex), true, SIZE_MAX - 4096, ""}; }
Unit make_null() { return {"null", std::make_unique<NullDevice>(kIndex), false, SIZE_MAX / 2, ""}; }

Unit make_gpu() {
  CudaDiscovery found = discover_cuda_devices(kIndex);
  if (found.devices.empty()) {
    return {"gpu", nullptr, true, 0, found.note};
  }
  // One pebibyte, which no card has and no driver rejects as malformed.
  return {"gpu", std::move(found.devices.front()), true, size_t{1} << 50, ""};
}

#if TESSIQ_HAS_CUDA
Unit make_fake_cuda() {
  testing_support::FakeCuda::instance().reset();
  const CudaRuntimeApi& api = testing_support::FakeCuda::api();
  return {"cuda_stand_in", std::make_unique<CudaDevice>(api, kIndex, Ordinal{1}), true, size_t{1} << 50, ""};
}
#endif

using MakeUnit = Unit (*)();
struct NamedUnit {
  const char* name;
  MakeUnit make;
};
const NamedUnit kUnits[] = {
    {"host", make_host},
    {"null", make_null},
#if TESSIQ_HAS_CUDA
    {"cuda_stand_in", make_fake_cuda},
#endif
    {"gpu", make_gpu},
};

class DeviceConformance : public testing::TestWithParam<NamedUnit> {
 protected:
  void SetUp() override {
    unit = GetParam().make();
    if (unit.device == nullptr) {
      GTEST_SKIP() << unit.why_absent;
    }
  }
  Device& device() { return *unit.device; }
  void* take(size_t size) {
    Result<void*> memory = device().allocate(Bytes{size});
    EXPECT_TRUE(memory.ok()) << (memory ? "" : memory.error().message());
    return memory ? *memory : nullptr;
  }
  std::vector<uint8_t> read(const void* memory, size_t size, Stream stream) {
    std::vector<uint8_t> bytes(size, 0xEE);
    EXPECT_TRUE(device().copy_to_host(bytes.data(), memory, Bytes{size}, stream, Blocking::kYes).ok());
    return bytes;
  }
  static std::vector<uint8_t> counting(size_t size) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{3});
    return bytes;
  }

  Unit unit;
  const Stream kDefault{kIndex, 0};
};

#define TESSIQ_SKIP_WITHOUT_CONTENTS()                         \
  if (!unit.keeps_contents) {                                  \
    GTEST_SKIP() << "this device keeps no contents of memory"; \
  }

TEST_P(DeviceConformance, AllocatesAlignedMemoryOfAnySize) {
  for (const size_t size : {size_t{1}, size_t{511}, size_t{512}, size_t{513}, size_t{1} << 20, size_t{3000001}}) {
    void* memory = take(size);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kDeviceAlignment, 0u) << size;
    device().deallocate(memory, Bytes{size});
  }
}

TEST_P(DeviceConformance, GivesTwoLiveBlocksDifferentMemory) {
  void* first = take(4096);
  void* second = take(4096);
  const auto a = reinterpret_cast<uintptr_t>(first);
  const auto b = reinterpret_cast<uintptr_t>(second);
  EXPECT_GE(a > b ? a - b : b - a, 4096u);
  device().deallocate(first, Bytes{4096});
  device().deallocate(second, Bytes{4096});
}

TEST_P(DeviceConformance, GivesANullPointerForZeroBytesAndTakesItBack) {
  EXPECT_EQ(take(0), nullptr);
  device().deallocate(nullptr, Bytes{0});
}

TEST_P(DeviceConformance, ReportsMemoryThatIsNotThereAsExhaustedAndGoesOn) {
  const Result<void*> refused = device().allocate(Bytes{unit.impossible_bytes});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kResourceExhausted) << refused.error().message();
  device().deallocate(take(512), Bytes{512});
}

TEST_P(DeviceConformance, RoundTripsBytesOfOddSizesAndOffsets) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  const std::vector<uint8_t> sent = counting(100003);
  auto* memory = static_cast<char*>(take(100100));
  ASSERT_TRUE(device().copy_to_device(memory + 7, sent.data(), Bytes{sent.size()}, kDefault, Blocking::kYes).ok());
  EXPECT_EQ(read(memory + 7, sent.size(), kDefault), sent);
  device().deallocate(memory, Bytes{100100});
}

TEST_P(DeviceConformance, LetsTheSourceOfABlockingCopyBeReusedAtOnce) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  std::vector<uint8_t> source = counting(1 << 20);
  const std::vector<uint8_t> sent = source;
  void* memory = take(source.size());
  ASSERT_TRUE(device().copy_to_device(memory, source.data(), Bytes{source.size()}, kDefault, Blocking::kYes).ok());
  std::fill(source.begin(), source.end(), uint8_t{0});
  EXPECT_EQ(read(memory, sent.size(), kDefault), sent);
  device().deallocate(memory, Bytes{sent.size()});
}

TEST_P(DeviceConformance, RunsTheWorkOfAStreamInItsOrder) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  constexpr size_t kSize = 4 << 20;
  void* first = take(kSize);
  void* second = take(kSize);
  const Stream stream = *device().stream_from_pool(0);
  for (const Stream queue : {kDefault, stream}) {
    for (int value = 1; value <= 20; ++value) {
      ASSERT_TRUE(device().fill_bytes(first, static_cast<uint8_t>(value), Bytes{kSize}, queue).ok());
      ASSERT_TRUE(device().copy_on_device(second, first, Bytes{kSize}, queue).ok());
    }
    ASSERT_TRUE(device().fill_bytes(first, 99, Bytes{kSize}, queue).ok());
    EXPECT_EQ(read(second, kSize, queue), std::vector<uint8_t>(kSize, 20));
    EXPECT_EQ(read(first, kSize, queue), std::vector<uint8_t>(kSize, 99));
  }
  device().deallocate(first, Bytes{kSize});
  device().deallocate(second, Bytes{kSize});
}

TEST_P(DeviceConformance, OrdersTwoStreamsByAnEvent) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  constexpr size_t kSize = 64 << 20;
  void* memory = take(kSize);
  const Stream writer = *device().stream_from_pool(0);
  const Stream reader = *device().stream_from_pool(0);
  const Event event = *device().create_event(Timing::kNo);
  for (int value = 1; value <= 8; ++value) {
    ASSERT_TRUE(device().fill_bytes(memory, static_cast<uint8_t>(value), Bytes{kSize}, writer).ok());
  }
  ASSERT_TRUE(device().record_event(event, writer).ok());
  ASSERT_TRUE(device().wait_event(reader, event).ok());
  uint8_t last = 0;
  const char* end = static_cast<const char*>(memory) + kSize - 1;
  ASSERT_TRUE(device().copy_to_host(&last, end, Bytes{1}, reader, Blocking::kYes).ok());
  EXPECT_EQ(last, 8);
  device().destroy_event(event);
  device().deallocate(memory, Bytes{kSize});
}

TEST_P(DeviceConformance, SynchronizingWaitsForPoolStreams) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  constexpr size_t kSize = 16 << 20;
  void* memory = take(kSize);
  void* pinned = *device().allocate_pinned(Bytes{kSize});
  const Stream stream = *device().stream_from_pool(0);
  ASSERT_TRUE(device().fill_bytes(memory, 7, Bytes{kSize}, stream).ok());
  ASSERT_TRUE(device().copy_to_host(pinned, memory, Bytes{kSize}, stream, Blocking::kNo).ok());
  ASSERT_TRUE(device().synchronize().ok());
  const auto* bytes = static_cast<const uint8_t*>(pinned);
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + kSize), std::vector<uint8_t>(kSize, 7));
  device().deallocate_pinned(pinned, Bytes{kSize});
  device().deallocate(memory, Bytes{kSize});
}

TEST_P(DeviceConformance, TakesCopiesOfZeroBytesWithoutLookingAtPointers) {
  EXPECT_TRUE(device().copy_to_device(nullptr, nullptr, Bytes{0}, kDefault, Blocking::kYes).ok());
  EXPECT_TRUE(device().copy_to_host(nullptr, nullptr, Bytes{0}, kDefault, Blocking::kNo).ok());
  EXPECT_TRUE(device().copy_on_device(nullptr, nullptr, Bytes{0}, kDefault).ok());
  EXPECT_TRUE(device().fill_bytes(nullptr, 1, Bytes{0}, kDefault).ok());
}

TEST_P(DeviceConformance, RefusesToMoveContentsItDoesNotKeep) {
  if (unit.keeps_contents) {
    GTEST_SKIP() << "this device keeps the contents of memory";
  }
  void* memory = take(512);
  uint8_t byte = 0;
  EXPECT_EQ(device().copy_to_device(memory, &byte, Bytes{1}, kDefault, Blocking::kYes).error().code(),
            ErrorCode::kUnsupported);
  EXPECT_EQ(device().copy_to_host(&byte, memory, Bytes{1}, kDefault, Blocking::kYes).error().code(),
            ErrorCode::kUnsupported);
  EXPECT_EQ(device().copy_on_device(memory, memory, Bytes{1}, kDefault).error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(device().fill_bytes(memory, 0, Bytes{1}, kDefault).error().code(), ErrorCode::kUnsupported);
  device().deallocate(memory, Bytes{512});
}

TEST_P(DeviceConformance, GivesPoolStreamsThatAreNotTheDefaultStream) {
  const Stream first = *device().stream_from_pool(0);
  const Stream second = *device().stream_from_pool(0);
  EXPECT_NE(first, kDefault);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.device, kIndex);
}

TEST_P(DeviceConformance, CyclesThroughABoundedPool) {
  const Stream first = *device().stream_from_pool(0);
  int others = 0;
  while (*device().stream_from_pool(0) != first) {
    ASSERT_LT(++others, 1000);
  }
}

TEST_P(DeviceConformance, ClampsPrioritiesItDoesNotHave) {
  for (const int priority : {INT32_MIN, -100, -1, 1, 100, INT32_MAX}) {
    const Result<Stream> stream = device().stream_from_pool(priority);
    ASSERT_TRUE(stream.ok()) << priority;
    EXPECT_TRUE(device().synchronize_stream(*stream).ok());
  }
}

TEST_P(DeviceConformance, SaysThatASynchronizedStreamIsDone) {
  const Stream stream = *device().stream_from_pool(-1);
  for (const Stream queue : {kDefault, stream}) {
    ASSERT_TRUE(device().synchronize_stream(queue).ok());
    EXPECT_EQ(*device().stream_is_done(queue), true);
  }
}

TEST_P(DeviceConformance, RefusesAnotherDevicesStream) {
  const Stream foreign{DeviceIndex{5}, 0};
  EXPECT_EQ(device().synchronize_stream(foreign).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device().native_stream(foreign).error().code(), ErrorCode::kInvalidArgument);
}

TEST_P(DeviceConformance, RefusesAStreamThatWasNeverGiven) {
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 40, INT64_MIN}) {
    const Stream unknown{kIndex, id};
    EXPECT_EQ(device().stream_is_done(unknown).error().code(), ErrorCode::kInvalidArgument) << id;
    EXPECT_EQ(device().fill_bytes(nullptr, 0, Bytes{0}, unknown).error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST_P(DeviceConformance, TreatsAnEventThatWasNeverRecordedAsPassed) {
  const Event event = *device().create_event(Timing::kNo);
  EXPECT_EQ(*device().event_is_done(event), true);
  EXPECT_TRUE(device().synchronize_event(event).ok());
  EXPECT_TRUE(device().wait_event(kDefault, event).ok());
  device().destroy_event(event);
}

TEST_P(DeviceConformance, MeasuresTimeBetweenTwoTimedEvents) {
  const Event start = *device().create_event(Timing::kYes);
  const Event end = *device().create_event(Timing::kYes);
  ASSERT_TRUE(device().record_event(start, kDefault).ok());
  ASSERT_TRUE(device().record_event(end, kDefault).ok());
  ASSERT_TRUE(device().synchronize_event(end).ok());
  const Result<double> elapsed = device().elapsed_milliseconds(start, end);
  ASSERT_TRUE(elapsed.ok());
  EXPECT_GE(*elapsed, 0.0);
  EXPECT_LT(*elapsed, 10000.0);
  device().destroy_event(start);
  device().destroy_event(end);
}

TEST_P(DeviceConformance, RefusesTimesOfEventsThatKeepNoneOrWereNotRecorded) {
  const Event untimed = *device().create_event(Timing::kNo);
  const Event unrecorded = *device().create_event(Timing::kYes);
  const Event good = *device().create_event(Timing::kYes);
  ASSERT_TRUE(device().record_event(untimed, kDefault).ok());
  ASSERT_TRUE(device().record_event(good, kDefault).ok());
  ASSERT_TRUE(device().synchronize().ok());
  EXPECT_EQ(device().elapsed_milliseconds(untimed, good).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device().elapsed_milliseconds(good, unrecorded).error().code(), ErrorCode::kInvalidArgument);
  for (const Event event : {untimed, unrecorded, good}) {
    device().destroy_event(event);
  }
}

TEST_P(DeviceConformance, RefusesAnEventThatDoesNotExist) {
  EXPECT_EQ(device().record_event(Event{}, kDefault).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device().event_is_done(Event{}).error().code(), ErrorCode::kInvalidArgument);
  device().destroy_event(Event{});
}

TEST_P(DeviceConformance, RefusesAnotherKindsEvent) {
  HostDevice host;
  NullDevice null(DeviceIndex{0});
  Device& other = device().kind() == DeviceKind::kHost ? static_cast<Device&>(null) : host;
  const Event foreign = *other.create_event(Timing::kYes);
  EXPECT_EQ(device().record_event(foreign, kDefault).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(device().wait_event(kDefault, foreign).error().code(), ErrorCode::kInvalidArgument);
  other.destroy_event(foreign);
}

TEST_P(DeviceConformance, NamesItself) {
  const Result<DeviceProperties> properties = device().properties();
  ASSERT_TRUE(properties.ok());
  EXPECT_FALSE(properties->name.empty());
  EXPECT_GE(properties->multiprocessor_count, 1);
}

TEST_P(DeviceConformance, ReportsNoMoreFreeMemoryThanThereIsOrSaysThatItCannot) {
  const Result<MemoryInfo> info = device().memory_info();
  if (!info) {
    EXPECT_EQ(info.error().code(), ErrorCode::kUnsupported);
    return;
  }
  EXPECT_LE(info->free.value, info->total.value);
  EXPECT_GT(info->total.value, 0u);
}

TEST_P(DeviceConformance, GivesPinnedMemoryThatTheHostWrites) {
  auto* pinned = static_cast<uint8_t*>(*device().allocate_pinned(Bytes{5000}));
  pinned[0] = 1;
  pinned[4999] = 2;
  device().deallocate_pinned(pinned, Bytes{5000});
  EXPECT_EQ(*device().allocate_pinned(Bytes{0}), nullptr);
}

TEST_P(DeviceConformance, ServesSeveralThreads) {
  TESSIQ_SKIP_WITHOUT_CONTENTS();
  if (unit.name == "cuda_stand_in") {
    GTEST_SKIP() << "the stand-in library keeps its log without a lock";
  }
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  std::vector<void*> memory;
  for (size_t i = 0; i < wrong.size(); ++i) {
    memory.push_back(take(1 << 16));  // the allocator serialises these, so does this test
  }
  for (size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      const Stream stream = *device().stream_from_pool(0);
      for (int round = 0; round < 50; ++round) {
        const auto value = static_cast<uint8_t>(i * 50 + static_cast<size_t>(round));
        std::vector<uint8_t> bytes(1 << 16);
        const bool ok =
            device().fill_bytes(memory[i], value, Bytes{bytes.size()}, stream).ok() &&
            device().copy_to_host(bytes.data(), memory[i], Bytes{bytes.size()}, stream, Blocking::kYes).ok();
        wrong[i] += !ok || bytes != std::vector<uint8_t>(bytes.size(), value);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  for (void* block : memory) {
    device().deallocate(block, Bytes{1 << 16});
  }
}

INSTANTIATE_TEST_SUITE_P(Units, DeviceConformance, testing::ValuesIn(kUnits),
                         [](const auto& unit) { return std::string(unit.param.name); });

}  // namespace
}  // namespace tessiq
