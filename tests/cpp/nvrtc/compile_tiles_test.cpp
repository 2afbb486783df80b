// Loops that read across memory: which go through tiles, and that NVRTC takes them. Needs no GPU.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/emit/loop_kernel.h"
#include "codegen/nvrtc/compiler.h"
#include "ir/text/text.h"

namespace tessiq::nvrtc {
namespace {

emit::KernelSource source_of(const std::string& operand, const std::string& result) {
  auto graph = ir::parse("graph @main(%x: " + operand + ") {\n  %y: " + result +
                         " = mul(%x) {1 = 2, tessiq.group = 0}\n  return %y\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = emit::describe_loop(**graph, 0);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message();
  auto source = emit::emit_cuda(*kernel);
  EXPECT_TRUE(source.ok());
  return *std::move(source);
}

bool has_tiles(const emit::KernelSource& source) {
  return std::any_of(source.variants.begin(), source.variants.end(),
                     [](const emit::KernelVariant& variant) { return variant.tile > 0; });
}

TEST(Tiles, ServeTransposedInputsOfKnownAndOfSymbolicSize) {
  EXPECT_TRUE(has_tiles(source_of("f32[64, 96]{1, 64}", "f32[64, 96]")));
  EXPECT_TRUE(has_tiles(source_of("bf16[s0, s1]{1, s0}", "bf16[s0, s1]")));
  EXPECT_TRUE(has_tiles(source_of("f32[8, 64, 96]{6144, 1, 64}", "f32[8, 64, 96]")));
}

TEST(Tiles, AreTheFirstChoice) { EXPECT_GT(source_of("f32[64, 96]{1, 64}", "f32[64, 96]").variants.front().tile, 0); }

TEST(Tiles, AreNotMadeWhereTheyWouldBeMostlyEmptyOrForNothing) {
  EXPECT_FALSE(has_tiles(source_of("f32[64, 96]", "f32[64, 96]")));
  EXPECT_FALSE(has_tiles(source_of("f32[64, 3]{1, 64}", "f32[64, 3]")));
  EXPECT_FALSE(has_tiles(source_of("f32[3, 64]{1, 3}", "f32[3, 64]")));
  EXPECT_FALSE(has_tiles(source_of("f32[64, 96]{192, 2}", "f32[64, 96]")));
}

TEST(Tiles, CompileForEveryWidthOfElement) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  std::vector<std::string> bodies;
  for (const char* type : {"bool", "i16", "bf16", "f32", "f64"}) {
    const std::string name(type);
    bodies.push_back(source_of(name + "[64, 96]{1, 64}", name == "bool" ? "i64[64, 96]" : name + "[64, 96]").body);
    bodies.push_back(source_of(name + "[s0, s1]{1, s0}", name == "bool" ? "i64[s0, s1]" : name + "[s0, s1]").body);
  }
  auto code = compile(emit::joined_cuda(bodies), "sm_90");
  EXPECT_TRUE(code.ok()) << code.error().message();
}

}  // namespace
}  // namespace tessiq::nvrtc

#endif
