// Normal forms keep the value of an expression for every call, and expressions that differ only in writing share one.
#include "analysis/size_algebra.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "analysis/parsed_graph.h"
#include "analysis/symbol_expansion.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;
using Kind = SizeExpr::Kind;

SizeExpr number(int64_t value) { return SizeExpr::of_constant(value); }
SizeExpr symbol(const char* name) { return SizeExpr::of_symbol(name); }
SizeExpr sum(SizeExpr a, SizeExpr b) { return SizeExpr::of(Kind::kAdd, {std::move(a), std::move(b)}); }
SizeExpr times(SizeExpr a, SizeExpr b) { return SizeExpr::of(Kind::kMul, {std::move(a), std::move(b)}); }
SizeExpr quotient(SizeExpr a, SizeExpr b) { return SizeExpr::of(Kind::kFloorDiv, {std::move(a), std::move(b)}); }
SizeExpr remainder(SizeExpr a, SizeExpr b) { return SizeExpr::of(Kind::kMod, {std::move(a), std::move(b)}); }

class RandomExpressions {
 public:
  explicit RandomExpressions(uint32_t seed) : random_(seed) {}

  SizeExpr make(int depth) {
    const uint32_t kind = depth == 0 ? random_() % 2 : random_() % 8;
    switch (kind) {
      case 0:
        return number(static_cast<int64_t>(random_() % 9) - 3);
      case 1:
        return SizeExpr::of_symbol("s" + std::to_string(random_() % 3));
      case 2:
        return quotient(make(depth - 1), make(depth - 1));
      case 3:
        return remainder(make(depth - 1), make(depth - 1));
      default: {
        const Kind kinds[] = {Kind::kAdd, Kind::kMul, Kind::kMin, Kind::kMax};
        std::vector<SizeExpr> operands;
        for (uint32_t count = 2 + random_() % 2; count > 0; --count) {
          operands.push_back(make(depth - 1));
        }
        return SizeExpr::of(kinds[kind - 4], std::move(operands));
      }
    }
  }

  SizeExpr shuffled(SizeExpr expression) {
    for (SizeExpr& operand : expression.operands) {
      operand = shuffled(std::move(operand));
    }
    if (expression.kind != Kind::kFloorDiv && expression.kind != Kind::kMod) {
      std::shuffle(expression.operands.begin(), expression.operands.end(), random_);
    }
    return expression;
  }

  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
};

TEST(SizeAlgebra, NormalFormHasTheValueOfTheExpressionForEveryCall) {
  RandomExpressions expressions(1);
  int compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool small = round % 2 == 0;
    const SizeExpr expression = expressions.make(small ? 2 : 4);
    const SizeExpr normal = normalize(expression);
    ASSERT_EQ(normalize(normal), normal) << expression.to_string();
    if (small) {  // a product of many terms stays as it is written
      ASSERT_EQ(normalize(expressions.shuffled(expression)), normal) << expression.to_string();
    }
    for (int call = 0; call < 4; ++call) {
      std::map<std::string, int64_t, std::less<>> values;
      for (const char* name : {"s0", "s1", "s2"}) {
        values[name] = static_cast<int64_t>(expressions.random()() % 7);
      }
      const auto value_of = [&](std::string_view name) { return std::optional(values.find(name)->second); };
      const auto before = expression.evaluate(value_of);
      const auto after = normal.evaluate(value_of);
      if (before) {  // an expression without a value may get one: 0 * (1 // 0)
        ASSERT_TRUE(after.ok()) << expression.to_string() << " became " << normal.to_string();
        ASSERT_EQ(*before, *after) << expression.to_string() << " became " << normal.to_string();
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 4000);
}

TEST(SizeAlgebra, SeesEqualSizesHoweverTheyAreWritten) {
  EXPECT_TRUE(provably_equal(times(symbol("s0"), number(32)), times(number(4), times(number(8), symbol("s0")))));
  EXPECT_TRUE(provably_equal(times(sum(symbol("s0"), number(1)), symbol("s1")),
                             sum(times(symbol("s1"), symbol("s0")), symbol("s1"))));
  EXPECT_TRUE(provably_equal(quotient(times(symbol("s0"), number(32)), number(8)), times(symbol("s0"), number(4))));
  EXPECT_TRUE(provably_equal(remainder(times(symbol("s0"), number(32)), number(8)), number(0)));
}

TEST(SizeAlgebra, DoesNotCallSizesEqualThatMayDiffer) {
  EXPECT_FALSE(provably_equal(symbol("s0"), symbol("s1")));
  EXPECT_FALSE(provably_equal(quotient(symbol("s0"), number(2)), quotient(sum(symbol("s0"), number(1)), number(2))));
  EXPECT_FALSE(provably_equal(times(quotient(symbol("s0"), number(2)), number(2)), symbol("s0")));
  EXPECT_FALSE(provably_equal(quotient(symbol("s0"), symbol("s0")), number(1)));  // not where s0 is 0
}

TEST(SizeAlgebra, LeavesWhatDoesNotFitAsItIsWritten) {
  const SizeExpr huge = times(number(std::numeric_limits<int64_t>::max()), number(3));
  EXPECT_EQ(normalize(huge), huge);
  EXPECT_EQ(normalize(quotient(number(7), number(0))), quotient(number(7), number(0)));
}

TEST(SizeAlgebra, WritesSizesAsTheyAreUsuallyWritten) {
  EXPECT_EQ(normalize(sum(number(1), times(number(32), symbol("s0")))).to_string(), "s0 * 32 + 1");
  EXPECT_EQ(product(symbol("s1"), symbol("s0")).to_string(), "s0 * s1");
}

TEST(SizeAlgebra, StridesOfAPackedTypeMultiplyExtentsFromTheEnd) {
  const ir::TensorType type{ir::ElementType::kFloat32, {4, ir::Extent::symbol("s0"), 8}, std::nullopt};
  const auto strides = stride_exprs(type);
  ASSERT_TRUE(strides.ok());
  EXPECT_EQ((*strides)[0].to_string(), "s0 * 8");
  EXPECT_EQ((*strides)[1].to_string(), "8");
  EXPECT_EQ((*strides)[2].to_string(), "1");
}

TEST(SizeAlgebra, RefusesAnUnknownExtent) {
  EXPECT_EQ(element_count({4, ir::Extent::unknown()}).error().code(), ErrorCode::kUnsupported);
  // The outermost extent is in no stride.
  EXPECT_TRUE(stride_exprs({ir::ElementType::kFloat32, {ir::Extent::unknown(), 8}, std::nullopt}).ok());
  EXPECT_FALSE(stride_exprs({ir::ElementType::kFloat32, {8, ir::Extent::unknown()}, std::nullopt}).ok());
}

TEST(SymbolExpansion, PutsDefinitionsInUntilOnlyFreeSymbolsAreLeft) {
  const auto graph = parsed(R"(graph @main(%a: f32[s0, 8]) {
    symbol s1 = s0 * 8
    symbol s2 = s1 // 4
    return %a
  })");
  EXPECT_EQ(expand(symbol("s2"), graph.get()).to_string(), "s0 * 2");
  EXPECT_EQ(expand(symbol("s2"), nullptr).to_string(), "s2");
}

}  // namespace
}  // namespace tessiq::analysis
