// The size table: each number once, in an order that can be evaluated, with errors instead of undefined arithmetic.
#include "program/size_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace tessiq::program {
namespace {

using ir::SizeExpr;
using Kind = SizeExpr::Kind;

class Call final : public CallSizes {
 public:
  std::map<std::pair<int, int>, int64_t> extents;
  std::map<int, int64_t> integers;
  int64_t extent(int input, int axis) const override { return extents.at({input, axis}); }
  int64_t integer(int input) const override { return integers.at(input); }
};

SizeExpr symbol(std::string name) { return SizeExpr::of_symbol(std::move(name)); }
SizeExpr number(int64_t value) { return SizeExpr::of_constant(value); }

class SizeTableTest : public ::testing::Test {
 protected:
  int64_t value_of(const SizeExpr& expression) {
    auto ref = table.ref(expression);
    EXPECT_TRUE(ref) << ref.error().message();
    entries = SizeTable(table).take_entries();
    std::vector<int64_t> values;
    EXPECT_TRUE(evaluate(entries, call, values));
    return resolve(*ref, values);
  }

  ir::Graph graph;
  SizeTable table{graph};
  std::vector<SizeEntry> entries;
  Call call;
};

TEST_F(SizeTableTest, EveryOperationFollowsPython) {
  table.bind_integer("s0", 0);
  call.integers[0] = -7;
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kFloorDiv, {symbol("s0"), number(2)})), -4);
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMod, {symbol("s0"), number(4)})), 1);
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMax, {symbol("s0"), number(0), number(3)})), 3);
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMin, {symbol("s0"), number(0)})), -7);
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kAdd, {symbol("s0"), number(1), number(1)})), -5);
}

TEST_F(SizeTableTest, TheSameSizeIsWorkedOutOnce) {
  table.bind_extent("s0", 0, 1);
  call.extents[{0, 1}] = 6;
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMul, {symbol("s0"), number(4)})), 24);
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMul, {symbol("s0"), number(4)})), 24);
  EXPECT_EQ(entries.size(), 2U);
}

TEST_F(SizeTableTest, TwoAxesOfOneArgumentAreTwoSizes) {
  table.bind_extent("s0", 0, 0);
  table.bind_extent("s1", 0, 1);
  call.extents[{0, 0}] = 6;
  call.extents[{0, 1}] = 5;
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMul, {symbol("s0"), symbol("s1")})), 30);
}

TEST_F(SizeTableTest, ConstantsNeedNoEntry) {
  EXPECT_EQ(value_of(SizeExpr::of(Kind::kMul, {number(3), number(4)})), 12);
  EXPECT_TRUE(entries.empty());
}

TEST_F(SizeTableTest, TheFirstSourceOfASymbolStays) {
  table.bind_extent("s0", 2, 0);
  table.bind_extent("s0", 5, 1);
  call.extents[{2, 0}] = 11;
  EXPECT_EQ(value_of(symbol("s0")), 11);
}

TEST_F(SizeTableTest, ADefinitionServesWhereNoArgumentCarriesTheSymbol) {
  ASSERT_TRUE(graph.define_symbol({"e0", SizeExpr::of(Kind::kAdd, {symbol("s0"), number(1)})}));
  table.bind_integer("s0", 0);
  call.integers[0] = 9;
  EXPECT_EQ(value_of(symbol("e0")), 10);
}

TEST_F(SizeTableTest, RefusesToDivideByZeroAtACall) {
  table.bind_integer("s0", 0);
  call.integers[0] = 0;
  ASSERT_TRUE(table.ref(SizeExpr::of(Kind::kFloorDiv, {number(4), symbol("s0")})));
  std::vector<int64_t> values;
  const auto result = evaluate(SizeTable(table).take_entries(), call, values);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(SizeTableTest, RefusesASizePastSixtyFourBits) {
  table.bind_integer("s0", 0);
  call.integers[0] = std::numeric_limits<int64_t>::max();
  ASSERT_TRUE(table.ref(SizeExpr::of(Kind::kMul, {symbol("s0"), number(2)})));
  std::vector<int64_t> values;
  EXPECT_FALSE(evaluate(SizeTable(table).take_entries(), call, values));
}

TEST_F(SizeTableTest, RefusesASymbolNothingCarries) {
  const auto ref = table.ref(symbol("u7"));
  ASSERT_FALSE(ref);
  EXPECT_EQ(ref.error().message(), "no argument of the call carries the size 'u7'");
}

}  // namespace
}  // namespace tessiq::program
