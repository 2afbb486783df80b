// Order, equality and text of attributes.
#include "ir/attribute.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessiq::ir {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(AttributeTest, NumberedKeysComeFirstAndByValue) {
  AttributeMap map;
  for (const char* key : {"alpha", "10", "list.0", "2", "02", "tessiq.group", "_"}) {
    map.emplace(key, None{});
  }
  std::string order;
  for (const auto& [key, value] : map) {
    order += key + " ";
  }
  EXPECT_EQ(order, "2 02 10 _ alpha list.0 tessiq.group ");
}

TEST(AttributeTest, FloatsCompareByBits) {
  EXPECT_TRUE(attributes_equal(kNaN, kNaN));
  EXPECT_FALSE(attributes_equal(0.0, -0.0));
  EXPECT_TRUE(attributes_equal(FloatList{kNaN, 1.0}, FloatList{kNaN, 1.0}));
  EXPECT_FALSE(attributes_equal(FloatList{0.0}, FloatList{-0.0}));
  EXPECT_FALSE(attributes_equal(1.0, int64_t{1}));
  EXPECT_FALSE(attributes_equal(true, int64_t{1}));
  EXPECT_TRUE(attributes_equal(SizeList{Extent::unknown()}, SizeList{Extent::unknown()}));
}

TEST(AttributeTest, MapsCompareByKeyAndValue) {
  EXPECT_TRUE(attribute_maps_equal({{"a", 1.0}}, {{"a", 1.0}}));
  EXPECT_FALSE(attribute_maps_equal({{"a", 1.0}}, {{"b", 1.0}}));
  EXPECT_FALSE(attribute_maps_equal({{"a", 1.0}}, {{"a", 2.0}}));
  EXPECT_FALSE(attribute_maps_equal({{"a", 1.0}}, {}));
}

TEST(AttributeTest, FloatsAlwaysLookLikeFloats) {
  EXPECT_EQ(attribute_to_string(1.0), "1.0");
  EXPECT_EQ(attribute_to_string(-0.0), "-0.0");
  EXPECT_EQ(attribute_to_string(1e300), "1e+300");
  EXPECT_EQ(attribute_to_string(0.1), "0.1");
  EXPECT_EQ(attribute_to_string(5e-324), "5e-324");
  EXPECT_EQ(attribute_to_string(-kNaN), "nan");
}

TEST(AttributeTest, EqualTextIsEqualValueOnceNormalized) {
  EXPECT_TRUE(attributes_equal(normalized(Extent(3)), int64_t{3}));
  EXPECT_TRUE(attributes_equal(normalized(FloatList{}), SizeList{}));
  EXPECT_TRUE(attributes_equal(normalized(-kNaN), normalized(kNaN)));
  EXPECT_TRUE(attributes_equal(normalized(Extent::symbol("s0")), Extent::symbol("s0")));
}

}  // namespace
}  // namespace tessiq::ir
