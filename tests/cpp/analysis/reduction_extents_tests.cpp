// Three numbers say which elements are combined, whatever the rank.
#include "analysis/reduction_extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace tessiq::analysis {
namespace {

std::string text(const Result<ReductionExtents>& extents) {
  if (!extents) {
    return "refused";
  }
  return extents->outer.to_string() + ", " + extents->reduce.to_string() + ", " + extents->inner.to_string();
}

TEST(ReductionExtents, OfTheUsualReductions) {
  EXPECT_EQ(text(reduction_extents({4, 8}, std::vector<int64_t>{1})), "4, 8, 1");
  EXPECT_EQ(text(reduction_extents({4, 8}, std::vector<int64_t>{0})), "1, 4, 8");
  EXPECT_EQ(text(reduction_extents({4, 8, 3}, {})), "1, 96, 1");
  EXPECT_EQ(text(reduction_extents({2, 3, 4, 5}, std::vector<int64_t>{-2, 1})), "2, 12, 5");
  EXPECT_EQ(text(reduction_extents({ir::Extent::symbol("s0"), 8}, std::vector<int64_t>{-1})), "s0, 8, 1");
  EXPECT_EQ(text(reduction_extents({}, std::vector<int64_t>{0})), "1, 1, 1");
}

TEST(ReductionExtents, AxesOfExtentOneDoNotPart) {
  EXPECT_EQ(text(reduction_extents({2, 1, 3}, std::vector<int64_t>{0, 2})), "1, 6, 1");
  EXPECT_EQ(text(reduction_extents({2, 1, 3}, std::vector<int64_t>{1})), "6, 1, 1");
}

TEST(ReductionExtents, RefusesAxesApartAndAxesThatAreNotThere) {
  EXPECT_EQ(reduction_extents({2, 3, 4}, std::vector<int64_t>{0, 2}).error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(reduction_extents({ir::Extent::unknown()}, {}).error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(reduction_extents({2, 3}, std::vector<int64_t>{2}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(reduction_extents({2, 3}, std::vector<int64_t>{1, -1}).error().code(), ErrorCode::kInvalidArgument);
}

// Elements are combined exactly where only reduced coordinates differ.
TEST(ReductionExtents, CombineTheElementsThatDifferInReducedAxesOnly) {
  std::mt19937 random(2);
  int answered = 0;
  for (int round = 0; round < 500; ++round) {
    ir::Shape shape;
    std::vector<int64_t> axes;
    for (uint32_t axis = 0; axis < 1 + random() % 4; ++axis) {
      shape.emplace_back(static_cast<int64_t>(1 + random() % 3));
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (random() % 2 == 0) {
        axes.push_back(static_cast<int64_t>(axis));
      }
    }
    const auto extents = axes.empty() ? Result<ReductionExtents>(unsupported("")) : reduction_extents(shape, axes);
    if (!extents) {
      continue;
    }
    ++answered;
    int64_t count = 1;
    for (const ir::Extent& extent : shape) {
      count *= extent.known();
    }
    std::map<std::vector<int64_t>, std::set<int64_t>> by_kept;
    std::map<int64_t, std::set<int64_t>> by_numbers;
    const int64_t reduce = extents->reduce.constant;
    const int64_t inner = extents->inner.constant;
    for (int64_t flat = 0; flat < count; ++flat) {
      std::vector<int64_t> kept;
      int64_t rest = flat;
      for (size_t axis = shape.size(); axis-- > 0;) {
        const bool is_reduced = std::count(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != 0;
        kept.push_back(is_reduced ? 0 : rest % shape[axis].known());
        rest /= shape[axis].known();
      }
      by_kept[kept].insert(flat);
      by_numbers[flat / (reduce * inner) * inner + flat % inner].insert(flat);
    }
    std::set<std::set<int64_t>> expected;
    std::set<std::set<int64_t>> found;
    for (const auto& [kept, elements] : by_kept) {
      expected.insert(elements);
    }
    for (const auto& [output, elements] : by_numbers) {
      found.insert(elements);
    }
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(answered, 100);
}

}  // namespace
}  // namespace tessiq::analysis
