// Which entry a call takes: by alignment, divisibility and size.
#include "codegen/nvrtc/variant_choice.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace tessiq::nvrtc {
namespace {

VariantChoice choice_for(const std::string& parameters, const std::string& result) {
  auto graph = ir::parse("graph @main(" + parameters + ") {\n  %m: " + result +
                         " = mul(%a, %b) {tessiq.group = 0}\n  return %m\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = emit::describe_loop(**graph, 0);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message();
  auto source = emit::emit_cuda(*kernel);
  return VariantChoice(*kernel, source->variants);
}

int width(const VariantChoice& choice, std::vector<uintptr_t> addresses, std::vector<int64_t> sizes = {}) {
  std::vector<void*> pointers;
  for (const uintptr_t address : addresses) {
    pointers.push_back(reinterpret_cast<void*>(address));
  }
  return choice.variants()[choice.choose(pointers, sizes)].vector_width;
}

TEST(VariantChoice, AlignedPointersMoveVectors) {
  const VariantChoice choice = choice_for("%a: f32[64], %b: f32[64]", "f32[64]");
  EXPECT_EQ(width(choice, {512, 1024, 2048}), 4);
}

TEST(VariantChoice, OnePointerOffItsAlignmentGoesElementByElement) {
  const VariantChoice choice = choice_for("%a: f32[64], %b: f32[64]", "f32[64]");
  EXPECT_EQ(width(choice, {516, 1024, 2048}), 1);
  EXPECT_EQ(width(choice, {512, 1024, 2056}), 1);
}

TEST(VariantChoice, APointerReadOneElementARowMayLieAnywhere) {
  const VariantChoice choice = choice_for("%a: f32[8, 64], %b: f32[8, 1]", "f32[8, 64]");
  EXPECT_EQ(width(choice, {512, 516, 2048}), 4);
}

TEST(VariantChoice, ANarrowTypeBesideAWideOneNeedsItsOwnShareOfTheVector) {
  const VariantChoice choice = choice_for("%a: f32[64], %b: f16[64]", "f32[64]");
  EXPECT_EQ(width(choice, {512, 1024 + 8, 2048}), 4);
  EXPECT_EQ(width(choice, {512, 1024 + 4, 2048}), 1);
}

TEST(VariantChoice, RowsThatComeWithTheCallHaveToBeDivisible) {
  const VariantChoice choice = choice_for("%a: f32[s0, s1], %b: f32[s1]", "f32[s0, s1]");
  ASSERT_EQ(choice.sizes().argument_count, 2);
  EXPECT_EQ(width(choice, {512, 1024, 2048}, {8, 64}), 4);
  EXPECT_EQ(width(choice, {512, 1024, 2048}, {8, 66}), 1);
}

TEST(VariantChoice, RowStridesHaveToBeDivisible) {
  const VariantChoice choice = choice_for("%a: f32[8, 64]{s0, 1}, %b: f32[8, 64]", "f32[8, 64]");
  EXPECT_EQ(width(choice, {512, 1024, 2048}, {128}), 4);
  EXPECT_EQ(width(choice, {512, 1024, 2048}, {130}), 1);
}

TEST(VariantChoice, TilesOfHalfTypesMovePairsWhereBothAxesAndPointersAllowIt) {
  auto graph = ir::parse(
      "graph @main(%a: bf16[s0, s1]{1, s0}) {\n  %m: bf16[s0, s1] = mul(%a) {1 = 2, tessiq.group = 0}\n"
      "  return %m\n}\n");
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = emit::describe_loop(**graph, 0);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  const VariantChoice choice(*kernel, emit::emit_cuda(*kernel)->variants);
  const auto tile_of_width = [&](std::vector<uintptr_t> addresses, std::vector<int64_t> sizes) {
    std::vector<void*> pointers;
    for (const uintptr_t address : addresses) {
      pointers.push_back(reinterpret_cast<void*>(address));
    }
    const emit::KernelVariant& chosen = choice.variants()[choice.choose(pointers, sizes)];
    return chosen.tile > 0 ? chosen.vector_width : 0;
  };
  EXPECT_EQ(tile_of_width({512, 1024}, {64, 96}), 2);
  EXPECT_EQ(tile_of_width({512, 1024}, {63, 96}), 1);
  EXPECT_EQ(tile_of_width({512, 1024}, {64, 97}), 1);
  EXPECT_EQ(tile_of_width({514, 1024}, {64, 96}), 1);
  EXPECT_EQ(tile_of_width({512, 1026}, {64, 96}), 1);
}

TEST(VariantChoice, LargeLoopsTakeLongIndices) {
  const VariantChoice choice = choice_for("%a: f32[s0], %b: f32[s0]", "f32[s0]");
  std::vector<void*> pointers(3, nullptr);
  const std::vector<int64_t> small = {int64_t{1} << 30};
  const std::vector<int64_t> large = {int64_t{1} << 31};
  EXPECT_TRUE(choice.variants()[choice.choose(pointers, small)].index_32bit);
  EXPECT_FALSE(choice.variants()[choice.choose(pointers, large)].index_32bit);
}

}  // namespace
}  // namespace tessiq::nvrtc
