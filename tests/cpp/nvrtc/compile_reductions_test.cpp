// Every reduction of the table, in every form, as CUDA text compiled by NVRTC. Needs no GPU, only the library.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <set>

#include "codegen/emit/loop_kernel.h"
#include "codegen/nvrtc/compiler.h"
#include "ir/text/text.h"
#include "optable/lookup.h"

namespace tessiq::nvrtc {
namespace {

#define TESSIQ_NEED_NVRTC()                  \
  if (auto found = version(); !found) {      \
    GTEST_SKIP() << found.error().message(); \
  }

std::string result_type(const optable::OpInfo& op, const std::string& operand) {
  switch (op.combine) {
    case optable::Combine::kAny:
    case optable::Combine::kAll:
      return "bool";
    case optable::Combine::kArgMaximum:
    case optable::Combine::kArgMinimum:
      return "i64";
    case optable::Combine::kMean:
      return operand.find('f') == std::string::npos ? "f32" : operand;
    case optable::Combine::kSum:
    case optable::Combine::kProduct:
      return operand.find('f') == std::string::npos ? "i64" : operand;
    default:
      return operand;
  }
}

// The operand's shape, the axis that goes, the result's shape.
struct Form {
  const char* operand;
  int axis;
  const char* result;
};
constexpr Form kForms[] = {
    {"[64, 96]", 1, "[64]"}, {"[64, 4099]", 1, "[64]"}, {"[512, 96]", 0, "[96]"},
    {"[s0, s1]", 1, "[s0]"}, {"[s0, s1]", 0, "[s1]"},   {"[7, s0, 12]", 1, "[7, 12]"},
};

std::string body_of(const std::string& text) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << text;
  auto kernel = emit::describe_loop(**graph, 0);
  EXPECT_TRUE(kernel.ok()) << text << kernel.error().message();
  auto source = emit::emit_cuda(emit::with_positional_names(*kernel));
  EXPECT_TRUE(source.ok()) << text;
  return source->body;
}

std::string reduction(const optable::OpInfo& op, const std::string& type, const Form& form) {
  return "graph @main(%x: " + type + form.operand + ") {\n  %y: " + result_type(op, type) + form.result + " = " +
         std::string(op.name) + "(%x) {1 = [" + std::to_string(form.axis) + "], tessiq.group = 0}\n  return %y\n}\n";
}

std::string softmax(const std::string& type, const std::string& rows, const std::string& length) {
  const std::string full = type + "[" + rows + ", " + length + "]";
  const std::string row = type + "[" + rows + ", 1]";
  return "graph @main(%x: " + full + ") {\n  %m: " + row +
         " = amax(%x) {1 = [1], 2 = true, tessiq.group = 0}\n  %s: " + full +
         " = sub(%x, %m) {tessiq.group = 0}\n  %e: " + full + " = exp(%s) {tessiq.group = 0}\n  %t: " + row +
         " = sum(%e) {1 = [1], 2 = true, tessiq.group = 0}\n  %d: " + full +
         " = div(%e, %t) {tessiq.group = 0}\n  return %d\n}\n";
}

class CompileReductions : public testing::TestWithParam<const char*> {};

TEST_P(CompileReductions, OfEveryKindAndForm) {
  TESSIQ_NEED_NVRTC();
  std::set<std::string> distinct;  // "max" of a row is "amax" of it
  for (const optable::OpInfo* op : optable::all_ops()) {
    for (const Form& form : kForms) {
      if (op->is_reduction()) {
        distinct.insert(body_of(reduction(*op, GetParam(), form)));
      }
    }
  }
  ASSERT_GE(distinct.size(), 40U);
  const std::vector<std::string> bodies(distinct.begin(), distinct.end());
  auto code = compile(emit::joined_cuda(bodies), "compute_90");
  EXPECT_TRUE(code.ok()) << code.error().message();
}

INSTANTIATE_TEST_SUITE_P(Types, CompileReductions, testing::Values("bool", "u8", "i64", "bf16", "f32", "f64"),
                         [](const auto& type) { return std::string(type.param); });

class CompileSoftmax : public testing::TestWithParam<const char*> {};

TEST_P(CompileSoftmax, KeptStagedAndWalked) {
  TESSIQ_NEED_NVRTC();
  std::vector<std::string> bodies;
  for (const char* type : {"f32", "bf16"}) {
    for (const char* length : {"4096", "50257", "s1"}) {
      bodies.push_back(body_of(softmax(type, "s0", length)));
    }
  }
  auto code = compile(emit::joined_cuda(bodies), GetParam());
  EXPECT_TRUE(code.ok()) << code.error().message();
}

INSTANTIATE_TEST_SUITE_P(Architectures, CompileSoftmax, testing::Values("sm_75", "sm_80", "sm_90", "sm_100", "sm_120"));

TEST(DoublePrecision, IsNowhereInReductionsOfFloats) {
  TESSIQ_NEED_NVRTC();
  std::vector<std::string> bodies = {body_of(softmax("f32", "s0", "s1")), body_of(softmax("f16", "s0", "s1"))};
  for (const Form& form : kForms) {
    bodies.push_back(body_of(reduction(*optable::find_op("mean"), "f32", form)));
  }
  auto ptx = compile(emit::joined_cuda(bodies), "compute_90");
  ASSERT_TRUE(ptx.ok()) << ptx.error().message();
  EXPECT_EQ(ptx->find(".f64 "), std::string::npos);
}

}  // namespace
}  // namespace tessiq::nvrtc

#endif
