// Lowering: what becomes of each kind of node, which side it runs on, and what is refused.
#include "program/lower.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/text.h"
#include "passes/manager/pass.h"

namespace tessiq::program {
namespace {

constexpr auto kHost = analysis::UnclaimedPlace::kHost;
constexpr auto kDevicePlace = analysis::UnclaimedPlace::kDevice;

CallingConvention convention(std::vector<InputBinding> inputs, std::vector<ResultBinding> results) {
  return {std::move(inputs), std::move(results)};
}

InputBinding tensor(std::string name, Place place) { return {std::move(name), true, place, {}}; }
InputBinding integer(std::string name, std::string symbol) {
  return {std::move(name), false, Place::kHost, std::move(symbol)};
}

Result<Program> lower_text(std::string_view text, const CallingConvention& calling,
                           analysis::UnclaimedPlace unclaimed) {
  auto graph = ir::parse(text);
  if (!graph) {
    return std::move(graph).error();
  }
  analysis::TargetOptions target;
  target.unclaimed = unclaimed;
  target.weighs_crossings = false;
  auto passes = passes::run_pipeline(**graph, passes::kCompilePipeline, target);
  if (!passes) {
    return std::move(passes).error();
  }
  return lower(**graph, calling, target);
}

std::string text_of(const Result<Program>& program) {
  return program ? to_text(*program) : "error: " + program.error().message();
}

constexpr std::string_view kChain = R"(graph @main(%a: f32[8], %b: f32[8]) {
  %m: f32[8] = aten.mul.Tensor(%a, %b)
  %r: f32[8] = aten.relu.default(%m)
  return %r
})";

TEST(Lower, ChainOnTheDeviceIsOneLaunchAndNoMove) {
  const auto program = lower_text(
      kChain, convention({tensor("a", Place::kDevice), tensor("b", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  EXPECT_EQ(text_of(program), R"(program @main
  input 0 = %a: f32[8] strides [1]
  input 1 = %b: f32[8] strides [1]
  launch %r = kernel 0(%a, %b) sizes [] elements 8
  free %a, %b
  return %r
)");
}

TEST(Lower, ChainOnTheHostMovesInputsOnceAndTheResultBack) {
  const auto program =
      lower_text(kChain, convention({tensor("a", Place::kHost), tensor("b", Place::kHost)}, {ResultValue{"r"}}), kHost);
  EXPECT_EQ(text_of(program), R"(program @main
  input 0 = %a@host: f32[8] strides [1]
  input 1 = %b@host: f32[8] strides [1]
  arena of 256 bytes: %r at 0
  move %a = %a@host (input 0, kept)
  free %a@host
  move %b = %b@host (input 1, kept)
  free %b@host
  launch %r = kernel 0(%a, %b) sizes [] elements 8
  free %a, %b
  move %r@host = %r
  free %r
  return %r@host
)");
}

TEST(Lower, FatesSayWhatEachNodeBecame) {
  const auto program =
      lower_text(kChain, convention({tensor("a", Place::kHost), tensor("b", Place::kHost)}, {ResultValue{"r"}}), kHost);
  ASSERT_TRUE(program);
  ASSERT_EQ(program->fates.size(), 2U);
  EXPECT_EQ(program->fates[0].fate, Fate::kFusedAway);
  EXPECT_EQ(program->fates[0].kernel, "r");
  EXPECT_EQ(program->fates[1].fate, Fate::kLaunched);
  // The node that reads the arguments moves them, although the launch comes later.
  EXPECT_TRUE(program->fates[0].moves_inputs);
  EXPECT_FALSE(program->fates[1].moves_inputs);
}

constexpr std::string_view kUnknownBetween = R"(graph @main(%a: f32[8]) {
  %x: f32[8] = aten.relu.default(%a)
  %y: f32[8] = aten.nowhere.default(%x) {1 = [2, 3], flag = true}
  %z: f32[8] = aten.neg.default(%y)
  return %z
})";

TEST(Lower, WhatARewriteAbsorbedHasTheFateOfTheCallItIsIn) {
  constexpr std::string_view text = R"(graph @main(%a: f32[8]) {
  %s: f32[8] = OP(%a) {tessiq.absorbed = "p aten.exp.default, q aten.neg.default"}
  return %s
})";
  const auto calling = convention({tensor("a", Place::kDevice)}, {ResultValue{"s"}});
  const auto fates_of = [&](std::string_view op) {
    auto program = lower_text(std::string(text).replace(text.find("OP"), 2, op), calling, kDevicePlace);
    EXPECT_TRUE(program.ok()) << text_of(program);
    return program ? program->fates : std::vector<NodeFate>();
  };
  const std::vector<NodeFate> launched = fates_of("aten.relu.default");
  ASSERT_EQ(launched.size(), 3U);
  EXPECT_EQ(launched[1].node, "p");
  EXPECT_EQ(launched[1].op, "aten.exp.default");
  EXPECT_EQ(launched[2].op, "aten.neg.default");
  EXPECT_EQ(launched[1].fate, Fate::kFusedAway);
  EXPECT_EQ(launched[1].kernel, "s");
  const std::vector<NodeFate> dispatched = fates_of("aten.frobnicate.default");
  ASSERT_EQ(dispatched.size(), 3U);
  EXPECT_EQ(dispatched[2].fate, Fate::kDispatchedOnDevice);
  EXPECT_EQ(dispatched[2].kernel, "");
  EXPECT_EQ(dispatched[2].reason, dispatched[0].reason);
}

TEST(Lower, AnUnclaimedNodeRunsOnTheHostBetweenTwoMoves) {
  const auto program = lower_text(kUnknownBetween, convention({tensor("a", Place::kHost)}, {ResultValue{"z"}}), kHost);
  EXPECT_EQ(text_of(program), R"(program @main
  input 0 = %a@host: f32[8] strides [1]
  arena of 256 bytes: %x at 0, %z at 0
  move %a = %a@host (input 0, kept)
  free %a@host
  launch %x = kernel 0(%a) sizes [] elements 8
  free %a
  move %x@host = %x
  free %x
  dispatch %y@host = aten.nowhere.default(%x@host, [2, 3], flag=true) on host
  free %x@host
  move %y = %y@host
  free %y@host
  launch %z = kernel 1(%y) sizes [] elements 8
  free %y
  move %z@host = %z
  free %z
  return %z@host
)");
}

TEST(Lower, AnUnclaimedNodeStaysOnTheDeviceWhereTheTensorsAre) {
  const auto program =
      lower_text(kUnknownBetween, convention({tensor("a", Place::kDevice)}, {ResultValue{"z"}}), kDevicePlace);
  const std::string text = text_of(program);
  EXPECT_EQ(text.find("move"), std::string::npos) << text;
  EXPECT_NE(text.find("aten.nowhere.default(%x, [2, 3], flag=true) on device"), std::string::npos) << text;
}

TEST(Lower, ANodeRecordedOnTheHostRunsThereAlthoughTheTensorsAreOnTheDevice) {
  const auto program = lower_text(R"(graph @main(%a: f32[8]) {
  %y: f32[8] = aten.nowhere.default(%a) {tessiq.device = "host"}
  return %y
})",
                                  convention({tensor("a", Place::kDevice)}, {ResultValue{"y"}}), kDevicePlace);
  EXPECT_EQ(text_of(program), R"(program @main
  input 0 = %a: f32[8] strides [1]
  move %a@host = %a (input 0, kept)
  free %a
  dispatch %y@host = aten.nowhere.default(%a@host) on host
  free %a@host
  return %y@host
)");
}

TEST(Lower, AViewIsMetadataWithTheOffsetTheImporterRead) {
  const auto program = lower_text(R"(graph @main(%a: f32[4, 8]) {
  %s: f32[2, 8] = aten.slice.Tensor(%a) {1 = 0, 2 = 2, 3 = 4, tessiq.offsets = [16]}
  %r: f32[2, 8] = aten.relu.default(%s)
  return %r
})",
                                  convention({tensor("a", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  EXPECT_NE(text_of(program).find("view %s: f32[2, 8] strides [8, 1] = %a + 16"), std::string::npos)
      << text_of(program);
}

TEST(Lower, ResultsKeepTheirNonePositionsAndSizes) {
  const auto program = lower_text(
      R"(graph @main(%a: f32[s0]) {
  %r: f32[s0] = aten.relu.default(%a)
  return %r
})",
      convention({integer("n", "s0"), tensor("a", Place::kDevice)},
                 {ResultNone{}, ResultValue{"r"}, ResultSize{ir::Extent::symbol("s0")}, ResultNone{}}),
      kDevicePlace);
  EXPECT_NE(text_of(program).find("return none, %r, #0, none"), std::string::npos) << text_of(program);
}

TEST(Lower, ASymbolIsReadFromTheFirstArgumentThatCarriesIt) {
  const auto program = lower_text(
      R"(graph @main(%a: f32[s0, 4], %b: f32[s0, 4]) {
  symbol e0 = s0 * 4
  %v: f32[e0] = aten.view.default(%a) {1 = [e0], tessiq.offsets = [0]}
  %r: f32[e0] = aten.relu.default(%v)
  return %r
})",
      convention({tensor("a", Place::kDevice), tensor("b", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  const std::string text = text_of(program);
  EXPECT_NE(text.find("size #0 = input 0 axis 0  (s0)"), std::string::npos) << text;
  EXPECT_NE(text.find("= #0 * 4"), std::string::npos) << text;
}

TEST(Lower, AnOperatorListArgumentHoldsItsOperandsAndItsNones) {
  const auto program =
      lower_text(R"(graph @main(%a: f32[4, 4], %i: i64[2]) {
  %r: f32[4, 2] = aten.index_put.default(%a, %i, %a) {list.1 = [0, 1]}
  return %r
})",
                 convention({tensor("a", Place::kHost), tensor("i", Place::kHost)}, {ResultValue{"r"}}), kHost);
  EXPECT_NE(text_of(program).find("aten.index_put.default(%a@host, [_, %i@host], %a@host)"), std::string::npos)
      << text_of(program);
}

TEST(Lower, AResultNothingReadsGetsNoSlot) {
  const auto program = lower_text(R"(graph @main(%a: f32[4, 4]) {
  %v: f32[4], %i: i64[4] = aten.max.dim(%a) {1 = 1}
  return %i
})",
                                  convention({tensor("a", Place::kHost)}, {ResultValue{"i"}}), kHost);
  EXPECT_NE(text_of(program).find("dispatch _, %i@host = aten.max.dim(%a@host, 1)"), std::string::npos)
      << text_of(program);
}

TEST(Lower, ResultsThatShareMemoryStillDoOnTheHost) {
  const auto program = lower_text(R"(graph @main(%a: f32[3, 4]) {
  %y: f32[3, 4] = aten.neg.default(%a)
  %s: f32[4] = aten.select.int(%y) {1 = 0, 2 = 1, tessiq.offsets = [4]}
  return %y, %s
})",
                                  convention({tensor("a", Place::kHost)}, {ResultValue{"y"}, ResultValue{"s"}}), kHost);
  const std::string text = text_of(program);
  EXPECT_NE(text.find("view %s@host: f32[4] strides [1] = %y@host + 4"), std::string::npos) << text;
  EXPECT_EQ(text.find("move %s@host"), std::string::npos) << text;
}

TEST(Lower, RefusesASizeThatNoArgumentCarries) {
  const auto program = lower_text(R"(graph @main(%a: f32[4]) {
  %r: f32[u0] = aten.nowhere.default(%a)
  return %r
})",
                                  convention({tensor("a", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(program.error().message(), "%r: no argument of the call carries the size 'u0'");
}

TEST(Lower, RefusesAnUnknownExtent) {
  const auto program = lower_text(R"(graph @main(%a: f32[?]) {
  %r: f32[?] = aten.nowhere.default(%a)
  return %r
})",
                                  convention({tensor("a", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message().find("'?'"), std::string::npos);
}

TEST(Lower, RefusesAResultTheGraphDoesNotHave) {
  const auto program = lower_text(
      kChain, convention({tensor("a", Place::kDevice), tensor("b", Place::kDevice)}, {ResultValue{"q"}}), kDevicePlace);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message(), "the graph has no value %q");
}

TEST(Lower, RefusesAnArgumentTheGraphDoesNotHave) {
  const auto program =
      lower_text(kChain, convention({tensor("nobody", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message(), "the graph has no parameter %nobody");
}

TEST(Lower, TheProgramOutlivesTheGraph) {
  // lower_text destroys its graph before it returns: every name below is the program's own.
  const auto program = lower_text(
      kChain, convention({tensor("a", Place::kDevice), tensor("b", Place::kDevice)}, {ResultValue{"r"}}), kDevicePlace);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kernels.front().outputs.front().value, "r");
  EXPECT_EQ(to_text(*program), to_text(*program));
}

}  // namespace
}  // namespace tessiq::program
