// A loop reads each element where broadcasting puts it, before and after its axes are collapsed.
#include "analysis/loop_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analysis/parsed_graph.h"

namespace tessiq::analysis {
namespace {

using Numbers = std::vector<int64_t>;

Numbers constants(const std::vector<ir::SizeExpr>& expressions) {
  Numbers numbers;
  for (const ir::SizeExpr& expression : expressions) {
    EXPECT_EQ(expression.kind, ir::SizeExpr::Kind::kConstant) << expression.to_string();
    numbers.push_back(expression.constant);
  }
  return numbers;
}

// Offsets in the order of a loop over the extents.
Numbers offsets(const Numbers& extents, const Numbers& strides) {
  Numbers result;
  const int64_t count = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    int64_t offset = 0;
    for (size_t axis = extents.size(); axis-- > 0;) {
      offset += rest % extents[axis] * strides[axis];
      rest /= extents[axis];
    }
    result.push_back(offset);
  }
  return result;
}

ir::TensorType type_of(const ir::Shape& shape, std::optional<std::vector<ir::Extent>> strides = std::nullopt) {
  return {ir::ElementType::kFloat32, shape, std::move(strides)};
}

Numbers known(const ir::Shape& shape) {
  Numbers numbers;
  for (const ir::Extent& extent : shape) {
    numbers.push_back(extent.known());
  }
  return numbers;
}

TEST(LoopAccess, CollapsedLoopReadsTheSameOffsetsInTheSameOrder) {
  std::mt19937 random(7);
  int merged = 0;
  for (int round = 0; round < 3000; ++round) {
    ir::Shape shape;
    for (uint32_t rank = random() % 5; rank > 0; --rank) {
      shape.emplace_back(static_cast<int64_t>(1 + random() % 4));
    }
    std::vector<LoopAccess> accesses;
    std::vector<Numbers> before;
    for (uint32_t operands = 1 + random() % 3; operands > 0; --operands) {
      ir::Shape operand(shape.begin() + static_cast<int64_t>(random() % (shape.size() + 1)), shape.end());
      std::vector<ir::Extent> strides;
      for (ir::Extent& extent : operand) {
        extent = random() % 3 == 0 ? ir::Extent(1) : extent;
        strides.emplace_back(static_cast<int64_t>(random() % 13));
      }
      const bool packed = random() % 2 == 0;
      const auto access = loop_access(packed ? type_of(operand) : type_of(operand, strides), shape);
      ASSERT_TRUE(access.ok()) << access.error().message();
      accesses.push_back(*access);
      before.push_back(offsets(known(shape), constants(access->strides)));
    }
    const Numbers extents = constants(collapse(shape, accesses));
    merged += extents.size() < shape.size() ? 1 : 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      ASSERT_EQ(accesses[i].strides.size(), extents.size());
      EXPECT_EQ(offsets(extents, constants(accesses[i].strides)), before[i]);
    }
  }
  EXPECT_GT(merged, 500);
}

TEST(LoopAccess, PackedOperandsCollapseToOneAxis) {
  const ir::Shape shape{4, 8, ir::Extent::symbol("s0")};
  std::vector<LoopAccess> accesses{*loop_access(type_of(shape), shape), *loop_access(type_of({}), shape)};
  const auto extents = collapse(shape, accesses);
  ASSERT_EQ(extents.size(), 1u);
  EXPECT_EQ(extents[0].to_string(), "s0 * 32");
  EXPECT_EQ(accesses[0].strides[0].to_string(), "1");
  EXPECT_EQ(accesses[1].strides[0].to_string(), "0");
}

TEST(LoopAccess, ScalarCollapsesToNoAxis) {
  std::vector<LoopAccess> accesses{*loop_access(type_of({}), {})};
  EXPECT_TRUE(collapse({}, accesses).empty());
  EXPECT_TRUE(accesses[0].strides.empty());
}

TEST(LoopAccess, RefusesWhatIsNotKnownToBroadcast) {
  const ir::Extent s0 = ir::Extent::symbol("s0");
  const ir::Extent s1 = ir::Extent::symbol("s1");
  EXPECT_FALSE(loop_access(type_of({4, 8}), {8}).ok());                   // more axes
  EXPECT_FALSE(loop_access(type_of({4}), {8}).ok());                      // another extent
  EXPECT_FALSE(loop_access(type_of({s0}), {s1}).ok());                    // may differ
  EXPECT_FALSE(loop_access(type_of({s0}), {8}).ok());                     // may be 1 or 8
  EXPECT_FALSE(loop_access(type_of({8}), {ir::Extent::unknown()}).ok());  // a loop of unknown length
  EXPECT_FALSE(loop_access(type_of({ir::Extent::unknown()}), {8}).ok());
  EXPECT_TRUE(loop_access(type_of({s0, 1}), {s0, s1}).ok());
}

TEST(DenseOrder, NamesTheAxesFromTheSlowestToTheFastest) {
  EXPECT_EQ(*dense_order(type_of({2, 3, 4})), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(*dense_order(type_of({2, 3, 4, 5}, {{60, 1, 15, 3}})), (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(*dense_order(type_of({4, ir::Extent::symbol("s0")}, {{1, 4}})), (std::vector<int>{1, 0}));
}

TEST(DenseOrder, IsTheOrderInWhichOffsetsCountUp) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const size_t rank = 1 + random() % 5;
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    ir::Shape shape(rank);
    std::vector<ir::Extent> strides(rank);
    int64_t next = 1;
    for (const size_t axis : order) {
      shape[axis] = static_cast<int64_t>(1 + random() % 3);
      strides[axis] = shape[axis].is(1) ? static_cast<int64_t>(random() % 9) : next;
      next *= shape[axis].known();
    }
    const auto found = dense_order(type_of(shape, strides));
    ASSERT_TRUE(found.ok());
    Numbers extents;
    Numbers walked;
    for (const int axis : *found) {
      extents.push_back(shape[static_cast<size_t>(axis)].known());
      walked.push_back(strides[static_cast<size_t>(axis)].known());
    }
    Numbers expected(static_cast<size_t>(next));
    std::iota(expected.begin(), expected.end(), int64_t{0});
    EXPECT_EQ(offsets(extents, walked), expected);
  }
}

TEST(DenseOrder, RefusesGapsRepeatsAndWhatIsNotProven) {
  EXPECT_FALSE(dense_order(type_of({2, 3}, {{6, 2}})).ok());
  EXPECT_FALSE(dense_order(type_of({2, 3}, {{0, 1}})).ok());
  EXPECT_FALSE(dense_order(type_of({2, 3}, {{ir::Extent::unknown(), 1}})).ok());
}

TEST(DenseOrder, KnowsWhatADefinedSymbolStandsFor) {
  const auto graph = parsed(R"(graph @main(%a: f32[2, 4, s0]{s1, 1, 4}) {
    symbol s1 = s0 * 4
    return %a
  })");
  const ir::TensorType& type = graph->parameters().front()->type();
  EXPECT_FALSE(dense_order(type).ok());
  EXPECT_EQ(*dense_order(type, graph.get()), (std::vector<int>{0, 2, 1}));
}

}  // namespace
}  // namespace tessiq::analysis
