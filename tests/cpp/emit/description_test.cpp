// What describe_loop and the emitters promise of any group: order, equality of text, variants.
#include <gtest/gtest.h>

#include <set>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_sizes.h"
#include "codegen/emit/prelude.h"
#include "ir/text/text.h"

namespace tessiq::emit {
namespace {

LoopKernel described(const std::string& parameters, const std::string& body) {
  auto graph = ir::parse("graph @main(" + parameters + ") {\n" + body + "}\n");
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = describe_loop(**graph, 0);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message();
  return kernel ? *std::move(kernel) : LoopKernel{};
}

LoopKernel multiply(const std::string& type, const std::string& name = "m") {
  return described("%a: " + type + ", %b: " + type,
                   "  %" + name + ": " + type + " = mul(%a, %b) {tessiq.group = 0}\n  return %" + name + "\n");
}

std::vector<std::string> entries(const LoopKernel& kernel) {
  std::vector<std::string> endings;
  auto source = emit_cuda(kernel);
  EXPECT_TRUE(source.ok());
  for (const KernelVariant& variant : source->variants) {
    endings.push_back(variant.entry.substr(variant.entry.find("_x")));
  }
  return endings;
}

using Endings = std::vector<std::string>;

TEST(Description, AnOperandReadTwiceIsOneInput) {
  const LoopKernel kernel = described("%a: f32[8]", R"(  %m: f32[8] = mul(%a, %a) {tessiq.group = 0}
  %r: f32[8] = add(%m, %a) {tessiq.group = 0}
  return %r
)");
  EXPECT_EQ(kernel.inputs.size(), 1U);
  EXPECT_EQ(kernel.outputs.size(), 1U);
  EXPECT_EQ(kernel.name, "r");
}

TEST(Description, SizesComeExtentsFirstAndOnceEach) {
  const LoopKernel kernel = described("%a: f32[s0, s1], %b: f32[s1]",
                                      R"(  %m: f32[s0, s1] = mul(%a, %b) {tessiq.group = 0}
  return %m
)");
  std::vector<std::string> sizes;
  for (const ir::SizeExpr& size : kernel.size_arguments()) {
    sizes.push_back(size.to_string());
  }
  EXPECT_EQ(sizes, (std::vector<std::string>{"s0", "s1"}));
}

TEST(Description, ASizeUsedAsANumberIsASymbol) {
  const LoopKernel kernel = described("%a: f32[s0]", R"(  %m: f32[s0] = div(%a) {1 = s0, tessiq.group = 0}
  return %m
)");
  ASSERT_EQ(kernel.steps.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<LoopSymbol>(kernel.steps[0].arguments[1]));
}

TEST(Description, AnUnknownGroupIsInternal) {
  auto graph = ir::parse("graph @main(%a: f32[8]) {\n  return %a\n}\n");
  ASSERT_TRUE(graph.ok());
  auto kernel = describe_loop(**graph, 7);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code(), ErrorCode::kInternal);
}

TEST(Description, AnOperationWithoutAnExpressionIsInternal) {
  auto graph = ir::parse(R"(graph @main(%a: f32[8, 8]) {
  %m: f32[8, 8] = mm(%a, %a) {tessiq.group = 0}
  return %m
})");
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = describe_loop(**graph, 0);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code(), ErrorCode::kInternal);
}

TEST(Text, IsTheSameForLoopsThatDifferInNamesAlone) {
  const LoopKernel first = with_positional_names(multiply("f32[8]", "m"));
  const LoopKernel second = with_positional_names(multiply("f32[8]", "another.1"));
  EXPECT_EQ(emit_cuda(first)->text, emit_cuda(second)->text);
  EXPECT_EQ(emit_host(first)->text, emit_host(second)->text);
}

TEST(Text, CarriesTheNamesOfTheGraph) {
  EXPECT_NE(emit_cuda(multiply("f32[8]", "scores"))->text.find("v_scores"), std::string::npos);
}

TEST(Text, IsTheSameForEveryLengthOfAFlatLoop) {
  EXPECT_EQ(emit_cuda(multiply("f32[64]"))->text, emit_cuda(multiply("f32[1024, 4096]"))->text);
}

TEST(Text, DiffersWhereATypeDiffers) {
  EXPECT_NE(emit_cuda(multiply("f32[8]"))->text, emit_cuda(multiply("f16[8]"))->text);
}

TEST(Text, KeepsNamesApartThatSpellAlike) {
  const LoopKernel kernel = described("%a.1: f32[8], %a_1: f32[8]", R"(  %m: f32[8] = sub(%a.1, %a_1) {tessiq.group = 0}
  return %m
)");
  EXPECT_NE(emit_cuda(kernel)->text.find("v_a_1 - v_a_1_1"), std::string::npos);
}

TEST(Text, OfAProgramDefinesEachFunctionOnce) {
  const std::string body = emit_cuda(multiply("f16[8]"))->body;
  const std::string other = emit_cuda(multiply("f16[s0, 8]"))->body;
  const std::vector<std::string> bodies = {body, other};
  const std::string program = joined_cuda(bodies);
  const std::string definition = "u16 to_f16(float x)";
  EXPECT_EQ(program.find(definition), program.rfind(definition));
}

TEST(Variants, MoveSixteenBytes) {
  EXPECT_EQ(entries(multiply("f32[64]")), (Endings{"_x4", "_x1"}));
  EXPECT_EQ(entries(multiply("bf16[64]")), (Endings{"_x8", "_x1"}));
  EXPECT_EQ(entries(multiply("i64[64]")), (Endings{"_x2", "_x1"}));
}

TEST(Variants, NarrowWhereAKnownRowIsNotDivisible) {
  const std::string parameters = "%a: f32[8, 6], %b: f32[6]";
  const std::string body = "  %m: f32[8, 6] = mul(%a, %b) {tessiq.group = 0}\n  return %m\n";
  EXPECT_EQ(entries(described(parameters, body)), (Endings{"_x2", "_x1"}));
}

TEST(Variants, HaveLongIndicesWhereSizesAreNotKnownOrTooLarge) {
  EXPECT_EQ(entries(multiply("f32[s0]")), (Endings{"_x4", "_x1", "_x1_long"}));
  EXPECT_EQ(entries(multiply("f32[3000000000]")), (Endings{"_x4_long", "_x1_long"}));
}

TEST(Variants, AreScalarWhereTheResultIsNotContiguous) {
  EXPECT_EQ(entries(multiply("f32[8, 6]{12, 2}")), (Endings{"_x1"}));
}

TEST(Variants, CountTheLastRowOfATableInTheWidthOfAnIndex) {
  const std::string body = "  %r: f32[8, 256] = embedding(%w, %i) {tessiq.group = 0}\n  return %r\n";
  EXPECT_EQ(entries(described("%w: f32[8388608, 256], %i: i64[8]", body)), (Endings{"_x4", "_x1"}));
  EXPECT_EQ(entries(described("%w: f32[8388609, 256], %i: i64[8]", body)), (Endings{"_x4_long", "_x1_long"}));
}

TEST(Sizes, LargestOffsetReportsWhatDoesNotFit) {
  const LoopSizes loop = LoopSizes::of(multiply("f32[s0, 6]{s1, 1}"));
  ASSERT_EQ(loop.argument_count, 2);
  const std::vector<int64_t> small = {10, 100};
  const std::vector<int64_t> large = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(largest_offset(loop, small), 905);
  EXPECT_EQ(largest_offset(loop, large), INT64_MAX);
}

uint32_t quotient(uint32_t i, int64_t multiplier) {
  const auto m = static_cast<uint32_t>(multiplier);
  return (static_cast<uint32_t>((uint64_t{i} * m) >> 32) + i) >> (multiplier >> 32);
}

TEST(Sizes, AMultiplierGivesTheQuotientOfEveryIndex) {
  constexpr int64_t kLast = INT32_MAX;
  std::vector<int64_t> divisors = {1, 2, 3, 5, 7, 641, 50257, 65535, 65536, 65537, kLast - 1, kLast};
  for (int power = 2; power < 31; ++power) {
    for (const int64_t near : {-1, 0, 1}) {
      divisors.push_back((int64_t{1} << power) + near);
    }
  }
  for (const int64_t divisor : divisors) {
    const int64_t multiplier = multiplier_of(divisor);
    // A quotient that is wrong anywhere is wrong where it has just grown, or is about to.
    for (int64_t part = 0; part <= 64; ++part) {
      const int64_t multiple = kLast / 64 * part / divisor * divisor;
      for (const int64_t i : {multiple - 1, multiple, multiple + divisor - 1}) {
        if (i >= 0 && i <= kLast) {
          ASSERT_EQ(quotient(static_cast<uint32_t>(i), multiplier), i / divisor) << i << " / " << divisor;
        }
      }
    }
  }
}

TEST(Sizes, NoMultiplierWhereNoIndexIsDivided) {
  EXPECT_EQ(multiplier_of(0), 0);
  EXPECT_EQ(multiplier_of(int64_t{1} << 31), 0);
}

TEST(Sizes, OnlyExtentsBehindTheFirstAreDividedBy) {
  EXPECT_EQ(LoopSizes::of(multiply("f32[s0, 6]{s1, 1}")).divisors, std::vector<int>{});
  EXPECT_EQ(LoopSizes::of(multiply("f32[4, s0]{s1, 1}")).divisors, std::vector<int>{0});
  const LoopKernel rows = described("%a: f32[8, s0, s1]{s2, s1, 1}",
                                    "  %s: f32[8, s0] = aten.sum.dim_IntList(%a) {1 = [2], tessiq.group = 0}\n"
                                    "  return %s\n");
  ASSERT_EQ(rows.extents.size(), 3U);
  EXPECT_EQ(LoopSizes::of(rows).divisors, std::vector<int>{0});  // rows of 8 by s0, elements of one axis
}

TEST(Prelude, DefinesOnlyWhatIsCalled) {
  const std::string text = prelude_for("floor_divide(x, y)", TextTarget::kHost);
  EXPECT_NE(text.find("float_floor_divide"), std::string::npos);
  EXPECT_EQ(text.find("erf"), std::string::npos);
}

TEST(Prelude, DefinesEachNameOnce) {
  const std::vector<std::string_view> names = intrinsic_names();
  const std::set<std::string_view> unique(names.begin(), names.end());
  EXPECT_EQ(names.size(), unique.size());
}

}  // namespace
}  // namespace tessiq::emit
