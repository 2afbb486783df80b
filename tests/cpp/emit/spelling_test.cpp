// Constants and conversions as text: no literal may lose its type, its sign or its last digit.
#include "codegen/emit/spelling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codegen/emit/expression.h"

namespace tessiq::emit {
namespace {

using ir::ElementType;

TEST(Constants, CarryTheirType) {
  EXPECT_EQ(constant_text({2.5}, ElementType::kFloat32), "float(2.5)");
  EXPECT_EQ(constant_text({0.1}, ElementType::kFloat16), "float(0.1)");
  EXPECT_EQ(constant_text({0.1}, ElementType::kFloat64), "double(0.1)");
  EXPECT_EQ(constant_text({int64_t{-3}}, ElementType::kInt64), "i64(-3)");
  EXPECT_EQ(constant_text({int64_t{2}}, ElementType::kBool), "true");
}

TEST(Constants, KeepMinusZeroAndInfinities) {
  EXPECT_EQ(constant_text({-0.0}, ElementType::kFloat32), "float(-0.0)");
  EXPECT_EQ(constant_text({2.0}, ElementType::kFloat32), "float(2.0)");
  EXPECT_EQ(constant_text({std::numeric_limits<double>::infinity()}, ElementType::kFloat32), "infinity<float>()");
  EXPECT_EQ(constant_text({-1e300}, ElementType::kFloat32), "(-infinity<float>())");
  EXPECT_EQ(constant_text({std::nan("")}, ElementType::kFloat64), "not_a_number<double>()");
}

TEST(Constants, WrapToTheirWidth) {
  EXPECT_EQ(constant_text({int64_t{300}}, ElementType::kUInt8), "u8(44)");
  EXPECT_EQ(constant_text({int64_t{200}}, ElementType::kInt8), "i8(-56)");
  EXPECT_EQ(constant_text({2.9}, ElementType::kInt32), "i32(2)");
  EXPECT_EQ(constant_text({std::numeric_limits<int64_t>::min()}, ElementType::kInt64), "i64(-9223372036854775807 - 1)");
}

TEST(Conversions, OfFloatsToSmallIntegersGoByWayOfSixtyFourBits) {
  EXPECT_EQ(value_conversion("x", ElementType::kFloat32, ElementType::kUInt8), "u8(i64(x))");
  EXPECT_EQ(value_conversion("x", ElementType::kFloat32, ElementType::kInt32), "i32(x)");
  EXPECT_EQ(value_conversion("x", ElementType::kFloat32, ElementType::kBool), "(x != 0)");
  EXPECT_EQ(value_conversion("x", ElementType::kFloat16, ElementType::kFloat32), "x");
}

TEST(Expressions, PutArgumentsAndTheTypeIn) {
  const std::vector<std::string> arguments = {"v_a", "float(2.0)"};
  EXPECT_EQ(*substitute("($0 + scalar_t(1) * $1)", "float", arguments), "(v_a + float(1) * float(2.0))");
}

TEST(Expressions, RefuseAnArgumentThatIsNotThere) {
  const std::vector<std::string> arguments = {"v_a"};
  for (const char* expression : {"$1", "$alpha", "$"}) {
    auto text = substitute(expression, "float", arguments);
    ASSERT_FALSE(text.ok()) << expression;
    EXPECT_EQ(text.error().code(), ErrorCode::kInternal);
  }
}

}  // namespace
}  // namespace tessiq::emit
