// Every expression of the table as CUDA text, compiled by NVRTC. Needs no GPU, only the library.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "codegen/emit/loop_kernel.h"
#include "codegen/nvrtc/compiler.h"
#include "hostcc/row_graphs.h"
#include "ir/text/text.h"

namespace tessiq::nvrtc {
namespace {

using ir::ElementType;
using loop_case::RowShape;

#define TESSIQ_NEED_NVRTC()                  \
  if (auto found = version(); !found) {      \
    GTEST_SKIP() << found.error().message(); \
  }

std::vector<std::string> bodies_of(ElementType type, RowShape shape) {
  std::vector<std::string> bodies;
  std::set<std::string> seen;
  for (const loop_case::RowGraph& row : loop_case::row_graphs(type, shape)) {
    auto kernel = emit::describe_loop(*row.graph, 0);
    EXPECT_TRUE(kernel.ok()) << row.title;
    auto source = emit::emit_cuda(emit::with_positional_names(*kernel));
    EXPECT_TRUE(source.ok()) << row.title;
    if (seen.insert(source->body).second) {
      bodies.push_back(source->body);
    }
  }
  return bodies;
}

class CompileRows : public testing::TestWithParam<int> {};

// Machine code for Hopper: what PTX accepts, its assembler may still refuse.
TEST_P(CompileRows, AsMachineCode) {
  TESSIQ_NEED_NVRTC();
  const auto type = static_cast<ElementType>(GetParam());
  auto code = compile(emit::joined_cuda(bodies_of(type, RowShape::kPacked)), "sm_90");
  EXPECT_TRUE(code.ok()) << code.error().message();
}

TEST_P(CompileRows, WithSymbolicLayouts) {
  TESSIQ_NEED_NVRTC();
  const auto type = static_cast<ElementType>(GetParam());
  auto code = compile(emit::joined_cuda(bodies_of(type, RowShape::kSymbolicStrides)), "compute_90");
  EXPECT_TRUE(code.ok()) << code.error().message();
}

INSTANTIATE_TEST_SUITE_P(Types, CompileRows, testing::Range(0, ir::kElementTypeCount),
                         [](const testing::TestParamInfo<int>& type) {
                           return std::string(ir::element_type_name(static_cast<ElementType>(type.param)));
                         });

class CompileArchitectures : public testing::TestWithParam<const char*> {};

// The text asks for the architecture in one place, the conversion to bfloat16.
TEST_P(CompileArchitectures, TakeHalfTypes) {
  TESSIQ_NEED_NVRTC();
  auto code = compile(emit::joined_cuda(bodies_of(ElementType::kBFloat16, RowShape::kPacked)), GetParam());
  EXPECT_TRUE(code.ok()) << code.error().message();
}

INSTANTIATE_TEST_SUITE_P(All, CompileArchitectures, testing::Values("sm_75", "sm_80", "sm_90", "sm_100", "sm_120"));

// Lines of double precision outside of the library's own reduction of large arguments of sine and cosine, which is
// three instructions that ordinary arguments never reach.
std::string double_precision_lines(const std::string& ptx) {
  std::string lines;
  for (size_t start = 0; start < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', start), ptx.size());
    const std::string line = ptx.substr(start, end - start);
    const bool register_declaration = line.find(".reg ") != std::string::npos;
    if (line.find(".f64") != std::string::npos && !register_declaration) {
      lines += line + "\n";
    }
    start = end + 1;
  }
  return lines;
}

bool reduces_large_arguments(const std::string& body) {
  return body.find("sin(") != std::string::npos || body.find("cos(") != std::string::npos ||
         body.find("tan(") != std::string::npos;
}

TEST(DoublePrecision, IsNowhereInLoopsOfFloats) {
  TESSIQ_NEED_NVRTC();
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
    std::vector<std::string> bodies = bodies_of(type, RowShape::kPacked);
    std::erase_if(bodies, reduces_large_arguments);
    ASSERT_GT(bodies.size(), 60U);
    auto ptx = compile(emit::joined_cuda(bodies), "compute_90");
    ASSERT_TRUE(ptx.ok()) << ptx.error().message();
    EXPECT_EQ(double_precision_lines(*ptx), "");
  }
}

emit::LoopKernel sigmoid_gelu(const std::string& expression) {
  const ir::SizeExpr one = ir::SizeExpr::of_constant(1);
  emit::LoopKernel kernel;
  kernel.extents = {ir::SizeExpr::of_constant(1024)};
  kernel.inputs = {{"x", ElementType::kFloat32, {one}}};
  kernel.outputs = {{"y", ElementType::kFloat32, {one}}};
  emit::LoopStep step;
  step.value = "y";
  step.op = "gelu";
  step.expression = expression;
  step.arguments = {emit::LoopRead{"x"}};
  kernel.steps = {step};
  return kernel;
}

TEST(DoublePrecision, IsFoundWhereALiteralIsPlanted) {
  TESSIQ_NEED_NVRTC();
  auto planted =
      compile(emit::emit_cuda(sigmoid_gelu("$0 / (scalar_t(1) + exp(float(-1.702 * $0)))"))->text, "compute_90");
  ASSERT_TRUE(planted.ok()) << planted.error().message();
  EXPECT_NE(double_precision_lines(*planted), "");
  auto written =
      compile(emit::emit_cuda(sigmoid_gelu("$0 / (scalar_t(1) + exp(scalar_t(-1.702) * $0))"))->text, "compute_90");
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(double_precision_lines(*written), "");
}

TEST(VectorLoads, AreOneInstructionOfSixteenBytes) {
  TESSIQ_NEED_NVRTC();
  auto ptx = compile(emit::emit_cuda(sigmoid_gelu("($0 + $0)"))->text, "compute_90");
  ASSERT_TRUE(ptx.ok()) << ptx.error().message();
  EXPECT_NE(ptx->find("ld.global.nc.v4"), std::string::npos);
  EXPECT_NE(ptx->find("st.global.v4"), std::string::npos);
  EXPECT_EQ(ptx->find("ld.local"), std::string::npos);
}

// x + 1 > x is false for the largest number, and a compiler that takes overflow as impossible folds it to true.
TEST(Integers, WrapBetweenSteps) {
  TESSIQ_NEED_NVRTC();
  for (const std::string type : {"i32", "i64"}) {
    auto graph = ir::parse("graph @main(%a: " + type + "[64]) {\n  %s: " + type +
                           "[64] = add(%a) {1 = 1, tessiq.group = 0}\n"
                           "  %m: bool[64] = gt(%s, %a) {tessiq.group = 0}\n  return %m\n}\n");
    ASSERT_TRUE(graph.ok()) << graph.error().message();
    auto source = emit::emit_cuda(*emit::describe_loop(**graph, 0));
    auto ptx = compile(source->text, "compute_90");
    ASSERT_TRUE(ptx.ok()) << ptx.error().message();
    EXPECT_NE(ptx->find(type == "i32" ? "add.s32" : "add.s64"), std::string::npos);
    const std::string compare = type == "i32" ? ".s32" : ".s64";
    EXPECT_TRUE(ptx->find("setp.gt" + compare) != std::string::npos ||
                ptx->find("setp.lt" + compare) != std::string::npos)
        << *ptx;
  }
}

TEST(Compile, PutsTheWholeLogInTheError) {
  TESSIQ_NEED_NVRTC();
  auto code = compile("extern \"C\" __global__ void k() { first_unknown(); second_unknown(); }\n", "sm_90");
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().code(), ErrorCode::kExternal);
  EXPECT_NE(code.error().message().find("first_unknown"), std::string::npos);
  EXPECT_NE(code.error().message().find("second_unknown"), std::string::npos);
}

TEST(Architecture, IsTheCardsOwnOrTheNearestOlder) {
  TESSIQ_NEED_NVRTC();
  EXPECT_EQ(*target_architecture({9, 0}), "sm_90");
  EXPECT_EQ(*target_architecture({7, 5}), "sm_75");
  // A card of a generation that this NVRTC does not know runs PTX, which its driver compiles.
  EXPECT_EQ(target_architecture({99, 0})->substr(0, 8), "compute_");
}

TEST(Architecture, OlderThanAnyIsUnsupported) {
  TESSIQ_NEED_NVRTC();
  auto architecture = target_architecture({3, 5});
  ASSERT_FALSE(architecture.ok());
  EXPECT_EQ(architecture.error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace tessiq::nvrtc

#endif  // TESSIQ_HAS_CUDA
