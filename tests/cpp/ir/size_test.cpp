// Extents, size expressions, strides of packed tensors.
#include <gtest/gtest.h>

#include <limits>

#include "ir/size_expr.h"
#include "ir/type.h"

namespace tessiq::ir {
namespace {

using Kind = SizeExpr::Kind;

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

SizeExpr number(int64_t value) { return SizeExpr::of_constant(value); }
SizeExpr symbol(const char* name) { return SizeExpr::of_symbol(name); }

std::optional<int64_t> seven(std::string_view name) { return name == "s0" ? std::optional<int64_t>(7) : std::nullopt; }

TEST(ExtentTest, TwoUnknownsAreWrittenAlikeAndNotProvenEqual) {
  EXPECT_EQ(Extent::unknown(), Extent::unknown());
  EXPECT_FALSE(Extent::unknown().provably_equals(Extent::unknown()));
  EXPECT_TRUE(Extent::symbol("s0").provably_equals(Extent::symbol("s0")));
  EXPECT_FALSE(Extent::symbol("s0").provably_equals(Extent::symbol("s1")));
  EXPECT_TRUE(Extent(3).provably_equals(3));
  EXPECT_FALSE(Extent(3).provably_equals(Extent::symbol("s0")));
}

TEST(SizeExprTest, EvaluatesAsPython) {
  const auto value = [](Kind kind, int64_t a, int64_t b) {
    return SizeExpr::of(kind, {number(a), number(b)}).evaluate(seven).value();
  };
  EXPECT_EQ(value(Kind::kFloorDiv, -7, 2), -4);
  EXPECT_EQ(value(Kind::kMod, -7, 2), 1);
  EXPECT_EQ(value(Kind::kMod, 7, -2), -1);
  EXPECT_EQ(value(Kind::kMod, kSmallest, -1), 0);
  EXPECT_EQ(value(Kind::kMin, 3, -2), -2);
  EXPECT_EQ(value(Kind::kMax, 3, -2), 3);
  EXPECT_EQ(SizeExpr::of(Kind::kAdd, {symbol("s0"), number(1), number(2)}).evaluate(seven).value(), 10);
}

TEST(SizeExprTest, RefusesWhatHasNoValue) {
  const auto message = [](Kind kind, SizeExpr a, SizeExpr b) {
    return SizeExpr::of(kind, {std::move(a), std::move(b)}).evaluate(seven).error().message();
  };
  EXPECT_EQ(message(Kind::kAdd, symbol("s9"), number(1)), "size symbol s9 has no value");
  EXPECT_EQ(message(Kind::kFloorDiv, symbol("s0"), number(0)), "size 7 // 0 divides by zero");
  EXPECT_EQ(message(Kind::kMod, symbol("s0"), number(0)), "size 7 % 0 divides by zero");
  EXPECT_EQ(message(Kind::kAdd, number(kLargest), number(1)), "size 9223372036854775807 + 1 does not fit in 64 bits");
  EXPECT_EQ(message(Kind::kMul, number(kLargest), number(2)), "size 9223372036854775807 * 2 does not fit in 64 bits");
  EXPECT_EQ(message(Kind::kFloorDiv, number(kSmallest), number(-1)),
            "size -9223372036854775808 // -1 does not fit in 64 bits");
}

TEST(SizeExprTest, RefusesTreesThatAreTooDeep) {
  SizeExpr expr = symbol("s0");
  for (int i = 1; i < kMaxSizeExprDepth; ++i) {
    expr = SizeExpr::of(Kind::kMod, {std::move(expr), number(2)});
  }
  EXPECT_TRUE(check_size_expr(expr).ok());
  EXPECT_FALSE(check_size_expr(SizeExpr::of(Kind::kMod, {std::move(expr), number(2)})).ok());
}

TEST(TypeTest, PackedStridesAreNamedWhereAProductHasAName) {
  EXPECT_EQ(packed_strides({2, 3, 4}), (std::vector<Extent>{12, 4, 1}));
  EXPECT_EQ(packed_strides({}), (std::vector<Extent>{}));
  EXPECT_EQ(packed_strides({Extent::symbol("s0"), 3}), (std::vector<Extent>{3, 1}));
  EXPECT_EQ(packed_strides({2, Extent::symbol("s0")}), (std::vector<Extent>{Extent::symbol("s0"), 1}));
  EXPECT_EQ(packed_strides({2, Extent::symbol("s0"), 1}), (std::vector<Extent>{Extent::symbol("s0"), 1, 1}));
  EXPECT_EQ(packed_strides({2, Extent::symbol("s0"), 3}), std::nullopt);
  EXPECT_EQ(packed_strides({2, Extent::unknown()}), std::nullopt);
  EXPECT_EQ(packed_strides({Extent::unknown(), 3}), (std::vector<Extent>{3, 1}));
  EXPECT_EQ(packed_strides({2, 0, 3}), (std::vector<Extent>{3, 3, 1}));
  EXPECT_EQ(packed_strides({2, kLargest, 2}), std::nullopt);
}

TEST(TypeTest, NormalizedDropsOnlyWhatPackingSays) {
  const auto is_packed = [](Shape shape, std::vector<Extent> strides) {
    return normalized({ElementType::kFloat32, std::move(shape), std::move(strides)}).is_packed();
  };
  EXPECT_TRUE(is_packed({4, 3}, {3, 1}));
  EXPECT_TRUE(is_packed({1, 3}, {77, 1}));
  EXPECT_TRUE(is_packed({4, 0}, {1, 9}));
  EXPECT_TRUE(is_packed({4, Extent::symbol("s0")}, {Extent::symbol("s0"), 1}));
  EXPECT_FALSE(is_packed({4, Extent::symbol("s0")}, {Extent::symbol("s1"), 1}));
  EXPECT_FALSE(is_packed({4, 3}, {1, 4}));
  EXPECT_FALSE(is_packed({4, Extent::unknown()}, {Extent::unknown(), 1}));
}

TEST(TypeTest, ElementCounts) {
  const auto count = [](Shape shape) {
    return TensorType{ElementType::kFloat32, std::move(shape), {}}.element_count();
  };
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({4, 3}), 12);
  EXPECT_EQ(count({kLargest, kLargest, 0}), 0);
  EXPECT_EQ(count({kLargest, 2}), std::nullopt);
  EXPECT_EQ(count({4, Extent::symbol("s0")}), std::nullopt);
}

TEST(TypeTest, LayoutsAreKnownOnlyAsNumbers) {
  EXPECT_TRUE((TensorType{ElementType::kFloat32, {Extent::symbol("s0"), 3}, {}}.has_known_layout()));
  EXPECT_FALSE((TensorType{ElementType::kFloat32, {3, Extent::symbol("s0")}, {}}.has_known_layout()));
  EXPECT_FALSE((TensorType{ElementType::kFloat32, {3}, std::vector<Extent>{Extent::unknown()}}.has_known_layout()));
}

}  // namespace
}  // namespace tessiq::ir
