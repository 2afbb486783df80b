// Result, Error and the two macros: what travels, and what does not run after a failure.
#include "support/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tessiq {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) {
    return invalid_argument("odd");
  }
  return value / 2;
}

Result<int> quarter(int value) {
  TESSIQ_ASSIGN_OR_RETURN(const int once, half(value));
  TESSIQ_ASSIGN_OR_RETURN(const int twice, half(once));
  return twice;
}

Result<void> require_even(int value, int& calls_after) {
  TESSIQ_RETURN_IF_ERROR(half(value));
  ++calls_after;
  return {};
}

TEST(Result, HoldsItsValue) {
  const Result<int> result = half(4);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, 2);
}

TEST(Result, HoldsItsErrorWithCodeAndMessage) {
  const Result<int> result = half(3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message(), "odd");
}

TEST(Result, CarriesTypesThatOnlyMove) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, AssignOrReturnPassesTheFirstErrorOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message(), "odd");
}

TEST(Result, ReturnIfErrorSkipsWhatFollows) {
  int calls = 0;
  EXPECT_TRUE(require_even(2, calls).ok());
  EXPECT_FALSE(require_even(1, calls).ok());
  EXPECT_EQ(calls, 1);
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorAbortsAndSaysTheError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Result<int> result = half(3);
  EXPECT_DEATH((void)std::to_string(*result), "value of a failed call was read: odd");
}

TEST(ResultDeathTest, ReadingTheErrorOfASuccessAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Result<int> result = half(2);
  const Result<void> nothing;
  EXPECT_DEATH((void)result.error(), "succeeded");
  EXPECT_DEATH((void)nothing.error(), "succeeded");
}

TEST(Error, ContextGoesInFrontAndTheCodeStays) {
  const Error error = resource_exhausted("full").with_context("copying weights");
  EXPECT_EQ(error.message(), "copying weights: full");
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
}

TEST(Error, EveryCodeHasItsOwnName) {
  EXPECT_EQ(error_code_name(invalid_argument("").code()), "invalid argument");
  EXPECT_EQ(error_code_name(unsupported("").code()), "unsupported");
  EXPECT_EQ(error_code_name(not_found("").code()), "not found");
  EXPECT_EQ(error_code_name(resource_exhausted("").code()), "resource exhausted");
  EXPECT_EQ(error_code_name(external("").code()), "external");
  EXPECT_EQ(error_code_name(internal("").code()), "internal");
}

}  // namespace
}  // namespace tessiq
