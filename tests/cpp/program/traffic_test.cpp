// What a report says an instruction moves.
#include "program/traffic.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text/text.h"
#include "passes/manager/pass.h"
#include "program/lower.h"

namespace tessiq::program {
namespace {

// Tensors where `place` says; the symbol of an extent is read from the first parameter's first axis.
Program lowered(std::string_view text, const std::string& result, Place place) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  CallingConvention convention;
  for (const auto& parameter : (*graph)->parameters()) {
    convention.inputs.push_back({parameter->name(), true, place, {}});
  }
  convention.results.emplace_back(ResultValue{result});
  analysis::TargetOptions target;
  target.weighs_crossings = false;
  target.unclaimed = place == Place::kDevice ? analysis::UnclaimedPlace::kDevice : analysis::UnclaimedPlace::kHost;
  EXPECT_TRUE(passes::run_pipeline(**graph, passes::kCompilePipeline, target).ok());
  auto program = lower(**graph, convention, target);
  EXPECT_TRUE(program.ok()) << program.error().message();
  return *std::move(program);
}

Traffic only(const Program& program, std::string_view kind, const std::vector<int64_t>& sizes = {}) {
  auto all = traffic(program, sizes);
  EXPECT_TRUE(all.ok());
  EXPECT_EQ(all->size(), program.instructions.size());
  std::vector<Traffic> found;
  for (const Traffic& one : *all) {
    if (one.kind == kind) {
      found.push_back(one);
    }
  }
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? Traffic{} : found.front();
}

TEST(Traffic, BroadcastOperandIsReadOnceAndFusedValuesAreNot) {
  const Program program = lowered(R"(graph @main(%a: f32[8, 4], %b: f32[4]) {
  %s: f32[8, 4] = aten.add.Tensor(%a, %b)
  %r: f32[8, 4] = aten.relu.default(%s)
  return %r
})",
                                  "r", Place::kDevice);
  const Traffic launch = only(program, "launch");
  EXPECT_EQ(launch.name, "r");
  EXPECT_EQ(launch.bytes_read, 8 * 4 * 4 + 4 * 4);
  EXPECT_EQ(launch.bytes_written, 8 * 4 * 4);
  EXPECT_EQ(launch.operations, 0);
}

TEST(Traffic, OperandReadTwiceCountsOnce) {
  const Program program = lowered(R"(graph @main(%a: f32[8, 8]) {
  %p: f32[8, 8] = aten.mm.default(%a, %a)
  return %p
})",
                                  "p", Place::kDevice);
  EXPECT_EQ(only(program, "matmul").bytes_read, 8 * 8 * 4);
}

TEST(Traffic, OfATableOnlyWhatIsLookedUpCounts) {
  const Program program = lowered(R"(graph @main(%w: f32[1000, 16], %i: i64[s0]) {
  %r: f32[s0, 16] = aten.embedding.default(%w, %i)
  return %r
})",
                                  "r", Place::kDevice);
  EXPECT_EQ(only(program, "launch", {10}).bytes_read, 10 * 16 * 4 + 10 * 8);
  EXPECT_EQ(only(program, "launch", {4000}).bytes_read, 1000 * 16 * 4 + 4000 * 8);
}

TEST(Traffic, ProductCountsTwoOperationsForEachPairAndItsSymbols) {
  const Program program = lowered(R"(graph @main(%a: f32[s0, 16], %b: f32[16, 4]) {
  %p: f32[s0, 4] = aten.mm.default(%a, %b)
  return %p
})",
                                  "p", Place::kDevice);
  ASSERT_EQ(program.sizes.size(), 1U);
  const Traffic product = only(program, "matmul", {10});
  EXPECT_EQ(product.operations, 2.0 * 10 * 16 * 4);
  EXPECT_EQ(product.bytes_read, (10 * 16 + 16 * 4) * 4);
  EXPECT_EQ(product.bytes_written, 10 * 4 * 4);
}

TEST(Traffic, MovesNameTheSideTheyLeadTo) {
  const Program program = lowered(R"(graph @main(%a: f32[8]) {
  %r: f32[8] = aten.relu.default(%a)
  return %r
})",
                                  "r", Place::kHost);
  std::string places;
  auto all = traffic(program, {});
  ASSERT_TRUE(all.ok());
  for (const Traffic& one : *all) {
    if (one.kind == "move") {
      places += one.place == Place::kDevice ? "device " : "host ";
      EXPECT_EQ(one.bytes_read, 32);
    }
  }
  EXPECT_EQ(places, "device host ");
}

TEST(Traffic, ViewsMoveNothing) {
  const Program program = lowered(R"(graph @main(%a: f32[8, 4]) {
  %t: f32[4, 8]{1, 4} = aten.permute.default(%a) {1 = [1, 0], tessiq.offsets = [0]}
  %p: f32[8, 8] = aten.mm.default(%a, %t)
  return %p
})",
                                  "p", Place::kDevice);
  EXPECT_EQ(only(program, "view").bytes_read, 0);
  EXPECT_EQ(only(program, "matmul").bytes_read, 2 * 8 * 4 * 4);
}

}  // namespace
}  // namespace tessiq::program
