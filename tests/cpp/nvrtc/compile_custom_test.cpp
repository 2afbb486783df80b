// Custom operations on the way to a GPU: an expression inside a generated loop, and a kernel written by hand. Needs no
// GPU.
#if TESSIQ_HAS_CUDA

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/written_source.h"
#include "codegen/nvrtc/compiler.h"
#include "codegen/nvrtc/written_kernel.h"
#include "ir/text/text.h"
#include "optable/lookup.h"

namespace tessiq::nvrtc {
namespace {

using testing::HasSubstr;

constexpr const char* kText =
    "extern \"C\" __global__ void doubled(const scalar_t* x, scalar_t* result, long long count) {\n"
    "  const long long i = blockIdx.x * 32ll + threadIdx.x;\n"
    "  if (i < count) { result[i] = narrow(widen(x[i]) + widen(x[i])); }\n"
    "}\n";

WrittenKernel written(const std::string& name, const std::string& text, ir::ElementType element) {
  return {name, emit::written_source(name, text, element)};
}

TEST(CustomOperations, AnExpressionIsFusedIntoTheLoopOfItsNeighbours) {
  optable::OpInfo row;
  row.name = "tessiq.half_of";
  row.aten = {"tessiq.half_of.default"};
  row.arity = 1;
  row.expression = "$0 / $parts";
  row.parameters = {{"parts", 2}};
  row.kernel = true;
  row.element_types = 1U << static_cast<uint32_t>(ir::ElementType::kFloat32);
  ASSERT_TRUE(optable::register_op(row).ok());
  auto graph = ir::parse(
      "graph @main(%x: f32[8, 32]) {\n"
      "  %a: f32[8, 32] = exp(%x) {tessiq.group = 0}\n"
      "  %b: f32[8, 32] = tessiq.half_of.default(%a) {tessiq.group = 0}\n"
      "  %r: f32[8, 32] = relu(%b) {tessiq.group = 0}\n"
      "  return %r\n}\n");
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = emit::describe_loop(**graph, 0);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  EXPECT_EQ(kernel->steps.size(), 3U);
  const auto cuda = emit::emit_cuda(*kernel);
  ASSERT_TRUE(cuda.ok());
  EXPECT_EQ(cuda->body.find("double"), std::string::npos);
  EXPECT_TRUE(emit::emit_host(*kernel).ok());
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const auto code = compile(cuda->text, "sm_90");
  EXPECT_TRUE(code.ok()) << code.error().message();
}

TEST(CustomOperations, AWrittenKernelCompilesForEveryElementType) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const auto architectures = outermost_architectures();
  ASSERT_TRUE(architectures.ok());
  for (int i = 0; i < ir::kElementTypeCount; ++i) {
    const auto tried = try_written_kernel(written("doubled", kText, static_cast<ir::ElementType>(i)), *architectures);
    EXPECT_TRUE(tried.ok()) << tried.error().message();
  }
}

TEST(CustomOperations, ARefusalPointsIntoTheKernelsOwnFile) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const std::vector<std::string> architectures = {"sm_90"};
  const std::string text = std::string(kText) + "int wrong = nothing;\n";
  const auto tried = try_written_kernel(written("doubled", text, ir::ElementType::kFloat16), architectures);
  ASSERT_FALSE(tried.ok());
  EXPECT_THAT(tried.error().message(), HasSubstr("NVRTC refused the kernel of doubled for sm_90"));
  EXPECT_THAT(tried.error().message(), HasSubstr("doubled.cu(5)"));
}

TEST(CustomOperations, AKernelOfAnotherNameIsRefused) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const std::vector<std::string> architectures = {"sm_90"};
  const std::string mangled = std::string(kText).substr(std::string_view("extern \"C\" ").size());
  for (const WrittenKernel& kernel :
       {written("tripled", kText, ir::ElementType::kFloat32), written("doubled", mangled, ir::ElementType::kFloat32)}) {
    const auto tried = try_written_kernel(kernel, architectures);
    ASSERT_FALSE(tried.ok());
    EXPECT_THAT(tried.error().message(), HasSubstr("no function extern \"C\" __global__ " + kernel.name));
  }
}

}  // namespace
}  // namespace tessiq::nvrtc

#endif  // TESSIQ_HAS_CUDA
