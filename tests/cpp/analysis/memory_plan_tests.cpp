// Buffers alive at once share no byte, ranges follow groups and views, and reductions become three numbers.
#include "analysis/memory_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/liveness.h"
#include "analysis/parsed_graph.h"

namespace tessiq::analysis {
namespace {

TEST(MemoryPlan, NoTwoBuffersAliveAtOnceShareAByte) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<BufferRequest> requests;
    for (uint32_t count = random() % 60; count > 0; --count) {
      const auto first = static_cast<int64_t>(random() % 40);
      requests.push_back({static_cast<int64_t>(random() % 5000), first, first + static_cast<int64_t>(random() % 10)});
    }
    const auto plan = plan_memory(requests);
    ASSERT_TRUE(plan.ok());
    EXPECT_GE(plan->arena_bytes, plan->peak_bytes);
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(plan->offsets[i] % kBufferAlignment, 0);
      EXPECT_LE(plan->offsets[i] + requests[i].bytes, plan->arena_bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool alive_at_once = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
        const bool share = plan->offsets[i] < plan->offsets[j] + requests[j].bytes &&
                           plan->offsets[j] < plan->offsets[i] + requests[i].bytes;
        ASSERT_FALSE(alive_at_once && share && requests[i].bytes > 0 && requests[j].bytes > 0);
      }
    }
  }
}

TEST(MemoryPlan, ReusesTheBytesOfABufferThatIsDead) {
  const std::vector<BufferRequest> chain{{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}, {1024, 3, 4}};
  const auto plan = plan_memory(chain);
  EXPECT_EQ(plan->arena_bytes, 2048);  // each is read while the next is written
  EXPECT_EQ(plan->peak_bytes, 2048);
}

TEST(MemoryPlan, RefusesWhatNoArenaCanHold) {
  EXPECT_EQ(plan_memory(std::vector<BufferRequest>{{-1, 0, 1}}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(plan_memory(std::vector<BufferRequest>{{1, 2, 1}}).error().code(), ErrorCode::kInvalidArgument);
  const std::vector<BufferRequest> huge(4, BufferRequest{int64_t{1} << 61, 0, 1});
  EXPECT_EQ(plan_memory(huge).error().code(), ErrorCode::kResourceExhausted);
}

std::map<std::string, StorageRange> ranges_of(const ir::Graph& graph) {
  std::map<std::string, StorageRange> ranges;
  for (const StorageRange& range : storage_ranges(graph)) {
    ranges.emplace(range.value->name(), range);
  }
  return ranges;
}

TEST(Liveness, GroupRunsAtItsLastNodeAndItsInnerValuesHaveNoStorage) {
  const auto graph = parsed(R"(graph @main(%a: f32[4, 4]) {
    %m: f32[4, 4] = mm(%a, %a) {tessiq.supported = true}
    %x: f32[4, 4] = relu(%m) {tessiq.supported = true, tessiq.group = 0}
    %n: f32[4, 4] = mm(%a, %a) {tessiq.supported = true}
    %y: f32[4, 4] = add(%x, %n) {tessiq.supported = true, tessiq.group = 0}
    %z: f32[4, 4] = mm(%y, %a) {tessiq.supported = true}
    return %z
  })");
  const auto ranges = ranges_of(*graph);
  EXPECT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges.count("x"), 0u);
  EXPECT_EQ(ranges.at("m").last, 3);  // read when the group runs, not where %x stands
  EXPECT_EQ(ranges.at("y").first, 3);
  EXPECT_EQ(ranges.at("y").last, 4);
  EXPECT_FALSE(ranges.at("y").escapes);
  EXPECT_TRUE(ranges.at("z").escapes);
}

TEST(Liveness, ViewKeepsWhatItViewsAlive) {
  const auto graph = parsed(R"(graph @main(%a: f32[4, 4]) {
    %x: f32[4, 4] = relu(%a) {tessiq.supported = true, tessiq.group = 0}
    %t: f32[4, 4]{1, 4} = t(%x) {tessiq.supported = true}
    %u: f32[4, 4] = t(%t) {tessiq.supported = true}
    %y: f32[4, 4] = tanh(%a) {tessiq.supported = true, tessiq.group = 1}
    %z: f32[4, 4] = mm(%u, %y) {tessiq.supported = true}
    return %z, %t
  })");
  const auto ranges = ranges_of(*graph);
  EXPECT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges.at("x").last, 4);
  EXPECT_TRUE(ranges.at("x").escapes);  // through %t
}

TEST(Liveness, OperationNothingIsKnownOfMayReturnAView) {
  const auto graph = parsed(R"(graph @main(%a: f32[4]) {
    %x: f32[4] = relu(%a) {tessiq.supported = true, tessiq.group = 0}
    %c: f32[4] = aten.cumsum.default(%x) {1 = 0, tessiq.supported = false}
    %y: f32[4] = relu(%a) {tessiq.supported = true, tessiq.group = 1}
    %d: f32[4] = add(%c, %y) {tessiq.supported = true, tessiq.group = 2}
    return %d
  })");
  const auto ranges = ranges_of(*graph);
  EXPECT_EQ(ranges.count("c"), 0u);  // PyTorch's to allocate
  EXPECT_EQ(ranges.at("x").last, 3);
}

}  // namespace
}  // namespace tessiq::analysis
