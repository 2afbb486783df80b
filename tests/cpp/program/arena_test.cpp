// Who lives in a call's arena, and for how long.
#include "program/arena.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ir/text/text.h"
#include "passes/manager/pass.h"
#include "program/lower.h"

namespace tessiq::program {
namespace {

// Tensors on the device, so that nothing is moved.
Program lowered(std::string_view text, const std::vector<std::string>& results) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  CallingConvention convention;
  for (const auto& parameter : (*graph)->parameters()) {
    convention.inputs.push_back({parameter->name(), true, Place::kDevice, {}});
  }
  for (const std::string& name : results) {
    convention.results.emplace_back(ResultValue{name});
  }
  analysis::TargetOptions target;
  target.unclaimed = analysis::UnclaimedPlace::kDevice;
  EXPECT_TRUE(passes::run_pipeline(**graph, passes::kCompilePipeline, target).ok());
  auto program = lower(**graph, convention, target);
  EXPECT_TRUE(program.ok()) << program.error().message();
  return *std::move(program);
}

std::string residents(const Program& program) {
  std::string names;
  for (const ArenaBuffer& buffer : program.arena.buffers) {
    names += (names.empty() ? "" : " ") + program.slots[static_cast<size_t>(buffer.slot)].value;
  }
  return names;
}

// Products of the one before and the parameter %a, by name; the last is returned.
Program chain_of_products(const std::vector<std::string>& names) {
  std::string text = "graph @main(%a: f32[8, 8]) {\n";
  std::string left = "a";
  for (const std::string& name : names) {
    text += "  %" + name + ": f32[8, 8] = aten.mm.default(%" + left + ", %a)\n";
    left = name;
  }
  return lowered(text + "  return %" + left + "\n}", {left});
}

TEST(Arena, HoldsWhatIsNotReturned) {
  const Program program = chain_of_products({"m", "n"});
  EXPECT_EQ(residents(program), "m");
}

TEST(Arena, MemoryOfDeadBuffersIsUsedAgainAndThatOfLivingOnesIsNot) {
  const Program program = chain_of_products({"m", "n", "o", "p"});
  ASSERT_EQ(residents(program), "m n o");
  ASSERT_TRUE(program.arena.plan);
  EXPECT_EQ(program.arena.plan->offsets, (std::vector<int64_t>{0, 256, 0}));
  EXPECT_EQ(program.arena.plan->arena_bytes, 512);
}

TEST(Arena, LeavesOutWhatAReturnedViewShows) {
  const Program program = lowered(R"(graph @main(%a: f32[8, 8]) {
  %m: f32[8, 8] = aten.mm.default(%a, %a)
  %v: f32[64] = aten.view.default(%m) {1 = [64], tessiq.offsets = [0]}
  return %v
})",
                                  {"v"});
  EXPECT_EQ(residents(program), "");
}

TEST(Arena, KeepsABufferUntilItsLastViewIsRead) {
  const Program program = lowered(R"(graph @main(%a: f32[8, 8], %b: f32[8, 8]) {
  %m: f32[8, 8] = aten.mm.default(%a, %a)
  %v: f32[8, 8] = aten.t.default(%m) {tessiq.offsets = [0]}
  %n: f32[8, 8] = aten.mm.default(%a, %b)
  %o: f32[8, 8] = aten.mm.default(%n, %v)
  return %o
})",
                                  {"o"});
  ASSERT_EQ(residents(program), "m n");
  EXPECT_EQ(program.arena.buffers[0].last, program.arena.buffers[1].last);
  EXPECT_NE(program.arena.plan->offsets[0], program.arena.plan->offsets[1]);
}

TEST(Arena, LeavesOutWhatAnUnknownOperatorMayKeep) {
  constexpr std::string_view kText = R"(graph @main(%a: f32[8, 8]) {
  %m: f32[8, 8] = aten.mm.default(%a, %a)
  %u: f32[8, 8] = mine.look.default(%m)MARK
  %n: f32[8, 8] = aten.mm.default(%u, %a)
  return %n
})";
  const auto with = [&](std::string_view mark) {
    std::string text(kText);
    return text.replace(text.find("MARK"), 4, mark);
  };
  EXPECT_EQ(residents(lowered(with(""), {"n"})), "");
  EXPECT_EQ(residents(lowered(with(" {tessiq.pure = true}"), {"n"})), "m");
}

TEST(Arena, SymbolicSizesArePlacedAtEachCall) {
  const Program program = lowered(R"(graph @main(%a: f32[s0, 8], %w: f32[8, 8]) {
  %m: f32[s0, 8] = aten.mm.default(%a, %w)
  %n: f32[s0, 8] = aten.mm.default(%m, %w)
  %o: f32[s0, 8] = aten.mm.default(%n, %w)
  return %o
})",
                                  {"o"});
  ASSERT_EQ(residents(program), "m n");
  EXPECT_FALSE(program.arena.plan);
  const std::vector<int64_t> three(program.sizes.size(), 3);
  const std::vector<int64_t> hundred(program.sizes.size(), 100);
  EXPECT_EQ(plan_arena(program, three).value().arena_bytes, 2 * 256);
  EXPECT_EQ(plan_arena(program, hundred).value().arena_bytes, 2 * 3328);
}

TEST(Arena, RefusesASizeThatDoesNotFit) {
  SlotInfo slot;
  slot.value = "x";
  slot.sizes = {SizeRef::constant(int64_t{1} << 62), SizeRef::constant(4)};
  slot.strides = {SizeRef::constant(4), SizeRef::constant(1)};
  const auto bytes = slot_bytes(slot, {});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message(), "the size of %x in bytes does not fit in 64 bits");
}

}  // namespace
}  // namespace tessiq::program
