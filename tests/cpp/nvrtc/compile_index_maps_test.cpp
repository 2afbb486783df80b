// Loops that read elsewhere than at their own position: how wide their vectors are, and that NVRTC takes them. Needs no
// GPU.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include "codegen/emit/loop_kernel.h"
#include "codegen/nvrtc/compiler.h"
#include "ir/text/text.h"

namespace tessiq::nvrtc {
namespace {

emit::KernelSource source_of(const std::string& parameters, const std::string& node) {
  auto graph = ir::parse("graph @main(" + parameters + ") {\n  " + node + "\n  return %r\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = emit::describe_loop(**graph, 0);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message();
  auto source = emit::emit_cuda(*kernel);
  EXPECT_TRUE(source.ok());
  return *std::move(source);
}

emit::KernelSource cat(const std::string& a, const std::string& b, const std::string& result, int axis) {
  return source_of("%x: " + a + ", %y: " + b, "%r: " + result + " = cat(%x, %y) {1 = " + std::to_string(axis) +
                                                  ", list.0 = [1, 1], tessiq.group = 0}");
}

TEST(IndexMaps, ReadVectorsWhereNoWindowCutsOne) {
  EXPECT_EQ(cat("f32[8, 32]", "f32[8, 64]", "f32[8, 96]", 1).variants.front().vector_width, 4);
  EXPECT_EQ(cat("f32[8, 34]", "f32[8, 62]", "f32[8, 96]", 1).variants.front().vector_width, 2);
  EXPECT_EQ(cat("f32[8, 33]", "f32[8, 63]", "f32[8, 96]", 1).variants.front().vector_width, 1);
  EXPECT_EQ(cat("f32[7, 32]", "f32[9, 32]", "f32[16, 32]", 0).variants.front().vector_width, 4);
  EXPECT_EQ(cat("bf16[s0, 32]", "bf16[s1, 32]", "bf16[s2, 32]", 0).variants.front().vector_width, 8);
}

TEST(IndexMaps, CompileForEveryWidthOfElementAndEveryArchitecture) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  std::vector<std::string> bodies;
  for (const std::string type : {"bool", "i16", "bf16", "f32", "i64"}) {
    bodies.push_back(cat(type + "[8, 32]", type + "[8, 33]", type + "[8, 65]", 1).body);
    bodies.push_back(cat(type + "[8, s0]", type + "[8, s1]", type + "[8, s2]", 1).body);
    bodies.push_back(source_of("%x: " + type + "[6, 8]", "%r: " + type +
                                                             "[9, 11] = pad(%x) {1 = [1, 2, 3, 0], 2 = 1, "
                                                             "tessiq.group = 0}")
                         .body);
    bodies.push_back(
        source_of("%x: " + type + "[6, s0]", "%r: " + type + "[6, s0] = flip(%x) {1 = [0, 1], tessiq.group = 0}").body);
    bodies.push_back(source_of("%x: " + type + "[6, 8], %y: " + type + "[6, 4]",
                               "%r: " + type + "[6, 8] = slice_scatter(%x, %y) {2 = 1, 3 = 2, 4 = 6, tessiq.group = 0}")
                         .body);
    if (type != "bool") {
      bodies.push_back(source_of("", "%r: " + type + "[s0] = arange() {0 = s0, tessiq.group = 0}").body);
    }
  }
  for (const std::string& body : bodies) {
    EXPECT_EQ(body.find("double"), std::string::npos);
  }
  for (const char* architecture : {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100"}) {
    auto code = compile(emit::joined_cuda(bodies), architecture);
    EXPECT_TRUE(code.ok()) << architecture << ": " << code.error().message();
  }
}

}  // namespace
}  // namespace tessiq::nvrtc

#endif  // TESSIQ_HAS_CUDA
