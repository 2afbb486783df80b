// Integer arithmetic against its definitions, and its refusals to overflow.
#include "support/int_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace tessiq {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(IntMath, RoundsUpToAMultiple) {
  EXPECT_EQ(round_up(0, 512), 0);
  EXPECT_EQ(round_up(1, 512), 512);
  EXPECT_EQ(round_up(512, 512), 512);
  EXPECT_EQ(ceil_div(513, 512), 2);
}

TEST(IntMath, DividesAsPythonDoesForEverySign) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) {
        continue;
      }
      const int64_t quotient = floor_div(a, b);
      const int64_t remainder = floor_mod(a, b);
      EXPECT_EQ(quotient * b + remainder, a);
      // The remainder has the divisor's sign, or is zero, and is smaller: that is floor division.
      EXPECT_TRUE(remainder == 0 || (remainder < 0) == (b < 0)) << a << " mod " << b;
      EXPECT_LT(remainder < 0 ? -remainder : remainder, b < 0 ? -b : b);
    }
  }
}

TEST(IntMath, RefusesSumsThatDoNotFit) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_add(std::numeric_limits<int64_t>::min(), -1), std::nullopt);
}

TEST(IntMath, RefusesProductsThatDoNotFit) {
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(checked_mul(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
}

}  // namespace
}  // namespace tessiq
