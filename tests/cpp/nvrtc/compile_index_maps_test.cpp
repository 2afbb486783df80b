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

emit::KernelSource rows_of(const std::string& table, const std::string& positions, const std::string& result) {
  return source_of("%w: " + table + ", %i: " + positions, "%r: " + result + " = embedding(%w, %i) {tessiq.group = 0}");
}

TEST(Lookups, LoadVectorsOfARowWhereRowsBeginAtOne) {
  EXPECT_EQ(rows_of("f32[9, 64]", "i64[8]", "f32[8, 64]").variants.front().vector_width, 4);
  EXPECT_EQ(rows_of("bf16[s0, 64]", "i32[s1]", "bf16[s1, 64]").variants.front().vector_width, 8);
  EXPECT_EQ(rows_of("f32[9, 64]{66, 1}", "i64[8]", "f32[8, 64]").variants.front().vector_width, 2);
  EXPECT_EQ(rows_of("f32[9, 63]", "i64[8]", "f32[8, 63]").variants.front().vector_width, 1);
}

TEST(Lookups, LoadVectorsOfPositionsWhereEachElementHasItsOwn) {
  const auto source =
      source_of("%x: bf16[8, 9], %i: i32[8, 64]", "%r: bf16[8, 64] = gather(%x, %i) {1 = 1, tessiq.group = 0}");
  EXPECT_EQ(source.variants.front().vector_width, 4);
  EXPECT_NE(source.body.find("load<W>(in0"), std::string::npos);
  EXPECT_EQ(source.body.find("load<W>(in1"), std::string::npos);
}

TEST(Lookups, CompileForEveryWidthOfElementAndEveryArchitecture) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  std::vector<std::string> bodies;
  for (const std::string type : {"bool", "i16", "bf16", "f32", "i64"}) {
    for (const std::string held : {"i32", "i64"}) {
      bodies.push_back(rows_of(type + "[9, 64]", held + "[8]", type + "[8, 64]").body);
      bodies.push_back(rows_of(type + "[s0, s1]", held + "[s2, 4]", type + "[s2, 4, s1]").body);
      bodies.push_back(source_of("%x: " + type + "[6, s0], %i: " + held + "[6, s1]",
                                 "%r: " + type + "[6, s1] = gather(%x, %i) {1 = 1, tessiq.group = 0}")
                           .body);
      bodies.push_back(source_of("%x: " + type + "[6, 7, 8], %i: " + held + "[5], %j: " + held + "[3, 1]",
                                 "%r: " + type + "[3, 5, 7] = index(%x, %i, %j) {list.1 = [1, 0, 1], tessiq.group = 0}")
                           .body);
      if (type == "bf16" || type == "f32") {  // whose loops reach into windows
        bodies.push_back(source_of("%w: " + type + "[9, 8], %i: " + held + "[3], %x: " + type + "[5, 8]",
                                   "%e: " + type + "[3, 8] = embedding(%w, %i) {tessiq.group = 0}\n  %r: " + type +
                                       "[8, 8] = cat(%e, %x) {1 = 0, list.0 = [1, 1], tessiq.group = 0}")
                             .body);
      }
    }
  }
  for (const std::string& body : bodies) {
    EXPECT_EQ(body.find("double"), std::string::npos);
    EXPECT_NE(body.find("within("), std::string::npos);
  }
  for (const char* architecture : {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100"}) {
    auto code = compile(emit::joined_cuda(bodies), architecture);
    EXPECT_TRUE(code.ok()) << architecture << ": " << code.error().message();
  }
}

TEST(Lookups, CompileInRowsThatAreKeptWalkedAndSplit) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  std::vector<std::string> bodies;
  for (const std::string type : {"bf16", "f32"}) {
    for (const std::string length : {"64", "s1"}) {
      const std::string parameters = "%w: " + type + "[s0, " + length + "], %i: i64[s2]";
      const std::string rows = type + "[s2, " + length + "]";
      const std::string looked_up = "%e: " + rows + " = embedding(%w, %i) {tessiq.group = 0}\n";
      bodies.push_back(source_of(parameters, looked_up + "  %m: " + type +
                                                 "[s2, 1] = amax(%e) {1 = [1], 2 = true, tessiq.group = 0}\n  %r: " +
                                                 rows + " = maximum(%e, %m) {tessiq.group = 0}")
                           .body);
      bodies.push_back(
          source_of(parameters, looked_up + "  %r: " + type + "[s2] = amax(%e) {1 = [1], tessiq.group = 0}").body);
    }
  }
  for (const char* architecture : {"sm_75", "sm_90"}) {
    auto code = compile(emit::joined_cuda(bodies), architecture);
    EXPECT_TRUE(code.ok()) << architecture << ": " << code.error().message();
  }
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
