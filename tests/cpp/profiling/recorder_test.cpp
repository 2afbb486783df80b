// Times of a call add up, whatever is inside what; a thread has one profile; an exception leaves nothing open.
#include "profiling/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "profiling/label.h"
#include "runtime/host/host_device.h"

namespace tessiq::profiling {
namespace {

using program::Place;

void pass_time() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
  while (std::chrono::steady_clock::now() < until) {
  }
}

class Profiled : public testing::Test {
 protected:
  void start(RecorderOptions options = {}) {
    auto started = Recorder::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message();
    recorder = *started;
  }
  void TearDown() override {
    if (recorder != nullptr) {
      EXPECT_TRUE(recorder->stop().ok());
    }
  }
  std::vector<CallRecords> stop() const {
    auto stopped = recorder->stop();
    EXPECT_TRUE(stopped.ok());
    return stopped.ok() ? *std::move(stopped) : std::vector<CallRecords>();
  }
  Callee callee(const char* name = "call") { return {name, program, DeviceIndex{0}, &device}; }

  // A kernel, and an interpreted node that copies what it reads.
  void call() {
    const OpenCall profiled(Recorder::of_this_thread().get(), callee());
    pass_time();
    {
      const OpenRegion kernel(current_log(), Kind::kKernel, 0);
      pass_time();
    }
    const OpenRegion node(current_log(), Kind::kInterpreted, 1);
    pass_time();
    const OpenTransfer transfer(current_log(), Direction::kToHost, Bytes{64});
    pass_time();
  }

  HostDevice device{DeviceIndex{0}};
  std::shared_ptr<program::Program> program = [] {
    auto made = std::make_shared<program::Program>();
    made->name = "main";
    made->slots = {{"a", Place::kDevice, ir::ElementType::kFloat32, {}, {}, -1},
                   {"b", Place::kDevice, ir::ElementType::kFloat32, {}, {}, -1}};
    made->instructions = {program::Matmul{0, 0, program::kNoSlot, 1, 1, 1},
                          program::Dispatch{"aten.sort.default", {}, {}, {1}, Place::kDevice, true}};
    return made;
  }();
  std::shared_ptr<Recorder> recorder;
};

TEST_F(Profiled, ExclusiveTimesOfACallAddUpToIt) {
  start();
  call();
  const auto calls = stop();
  ASSERT_EQ(calls.size(), 1);
  int64_t sum = 0;
  for (const Region& region : calls[0].regions) {
    EXPECT_GE(region.exclusive(), 200'000) << kind_name(region.kind);
    sum += region.exclusive();
  }
  EXPECT_EQ(sum, calls[0].regions[0].duration);
}

TEST_F(Profiled, ATransferInsideANodeIsNotTheNodesOwnTime) {
  start();
  call();
  const auto calls = stop();
  ASSERT_EQ(calls[0].regions.size(), 4);
  const Region& node = calls[0].regions[2];
  const Region& transfer = calls[0].regions[3];
  EXPECT_EQ(transfer.kind, Kind::kTransfer);
  EXPECT_EQ(transfer.parent, 2);
  EXPECT_EQ(transfer.bytes, 64);
  EXPECT_EQ(node.inside, transfer.duration);
  EXPECT_EQ(node.exclusive(), node.duration - transfer.duration);
}

TEST_F(Profiled, ATransferInsideATransferIsPartOfIt) {
  start();
  {
    const OpenCall profiled(recorder.get(), callee());
    const OpenTransfer outer(current_log(), Direction::kToDevice, Bytes{0}, 0);
    const OpenTransfer inner(current_log(), Direction::kToDevice, Bytes{96});
  }
  const auto calls = stop();
  ASSERT_EQ(calls[0].regions.size(), 2);
  EXPECT_EQ(calls[0].regions[1].bytes, 96);
}

TEST_F(Profiled, ACallInsideACallIsARegionOfIt) {
  start();
  {
    const OpenCall outer(recorder.get(), callee("outer"));
    const OpenRegion node(current_log(), Kind::kInterpreted, 1);
    const OpenCall inner(recorder.get(), callee("inner"));
    const OpenRegion kernel(current_log(), Kind::kKernel, 0);
  }
  const auto calls = stop();
  ASSERT_EQ(calls.size(), 1);
  ASSERT_EQ(calls[0].regions.size(), 4);
  EXPECT_EQ(calls[0].regions[2].kind, Kind::kCall);
  EXPECT_EQ(calls[0].regions[2].parent, 1);
  EXPECT_EQ(calls[0].calls[static_cast<size_t>(calls[0].regions[3].call)].name, "inner");
}

TEST_F(Profiled, AnExceptionClosesWhatWasOpenAndMarksIt) {
  start();
  try {
    const OpenCall profiled(recorder.get(), callee());
    {
      const OpenRegion kernel(current_log(), Kind::kKernel, 0);
    }
    const OpenRegion node(current_log(), Kind::kInterpreted, 1);
    throw std::runtime_error("the operator failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(current_log(), nullptr);
  const auto calls = stop();
  ASSERT_EQ(calls[0].regions.size(), 3);
  EXPECT_TRUE(calls[0].regions[0].failed);
  EXPECT_FALSE(calls[0].regions[1].failed);
  EXPECT_TRUE(calls[0].regions[2].failed);
  EXPECT_GE(calls[0].regions[2].duration, 0);
}

TEST_F(Profiled, DeviceTimesAreExclusiveToo) {
  start({.device_time = true});
  call();
  const auto calls = stop();
  int64_t sum = 0;
  for (const Region& region : calls[0].regions) {
    ASSERT_TRUE(region.device.has_value());
    EXPECT_GE(region.device->duration - region.device->inside, 200'000);
    EXPECT_EQ(region.begin_mark.handle, nullptr);
    sum += region.device->duration - region.device->inside;
  }
  EXPECT_EQ(sum, calls[0].regions[0].device->duration);
  EXPECT_GE(calls[0].regions[1].device->start, calls[0].regions[0].device->start);
}

TEST_F(Profiled, WorkOfTheHostHasNoDeviceTime) {
  start({.device_time = true});
  {
    const OpenCall profiled(recorder.get(), callee());
    const OpenRegion node(current_log(), Kind::kInterpreted, 1, Place::kHost);
  }
  const auto calls = stop();
  EXPECT_TRUE(calls[0].regions[0].device.has_value());
  EXPECT_FALSE(calls[0].regions[1].device.has_value());
}

TEST_F(Profiled, RepeatsAKernelAsOftenAsAskedAndOnceBefore) {
  start({.launches = 10});
  int launches = 0;
  {
    const OpenCall profiled(recorder.get(), callee());
    const OpenRegion kernel(current_log(), Kind::kKernel, 0);
    EXPECT_TRUE(kernel.repeat([&] { return pass_time(), ++launches, Result<void>{}; }).ok());
  }
  const auto calls = stop();
  EXPECT_EQ(launches, 11);
  ASSERT_TRUE(calls[0].regions[1].back_to_back.has_value());
  EXPECT_EQ(calls[0].regions[1].back_to_back->launches, 10);
  EXPECT_GE(calls[0].regions[1].back_to_back->device_milliseconds, 10 * 0.2);
}

TEST_F(Profiled, AFailedRepetitionIsHandedOn) {
  start({.launches = 10});
  const OpenCall profiled(recorder.get(), callee());
  const OpenRegion kernel(current_log(), Kind::kKernel, 0);
  EXPECT_FALSE(kernel.repeat([] { return Result<void>(external("the launch failed")); }).ok());
}

TEST_F(Profiled, AThreadRecordsOneProfileAtATime) {
  start();
  const auto second = Recorder::start({});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kInvalidArgument);
  stop();
  start();
  stop();
}

TEST_F(Profiled, AnotherThreadIsNotRecordedAndMayHaveAProfileOfItsOwn) {
  start();
  std::thread([&] {
    call();
    auto own = Recorder::start({});
    ASSERT_TRUE(own.ok());
    call();
    call();
    auto calls = (*own)->stop();
    ASSERT_TRUE(calls.ok());
    EXPECT_EQ(calls->size(), 2);
  }).join();
  call();
  EXPECT_EQ(stop().size(), 1);
}

TEST_F(Profiled, NothingIsOpenedWhereNothingIsRecorded) {
  call();
  EXPECT_FALSE(Recorder::any());
  EXPECT_EQ(current_log(), nullptr);
  start();
  EXPECT_TRUE(Recorder::any());
  EXPECT_TRUE(stop().empty());
  EXPECT_FALSE(Recorder::any());
}

TEST_F(Profiled, StoppedByAnotherThreadItRecordsNothingMore) {
  start();
  call();
  std::thread([&] { EXPECT_EQ(stop().size(), 1); }).join();
  call();
  EXPECT_EQ(Recorder::of_this_thread(), nullptr);
  EXPECT_TRUE(stop().empty());
}

class Spoken final : public Ranges {
 public:
  void push(const char* text) override { said.emplace_back(text); }
  void pop() override { said.emplace_back("end"); }
  std::vector<std::string> said;
};

TEST_F(Profiled, RangesNameEachRegionAndClose) {
  auto spoken = std::make_shared<Spoken>();
  start({.ranges = {spoken}});
  call();
  stop();
  EXPECT_THAT(spoken->said, testing::ElementsAre("tessiq call call", "tessiq kernel b (matmul)", "end",
                                                 "tessiq interpreted b (aten.sort.default)",
                                                 "tessiq transfer b (to host)", "end", "end", "end"));
}

}  // namespace
}  // namespace tessiq::profiling
