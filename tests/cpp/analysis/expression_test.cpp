// Expressions of the table evaluated without a compiler, and the numbers they are about.
#include "analysis/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

using ir::ElementType;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double value(std::string_view text, ElementType type, std::vector<double> arguments) {
  std::vector<Scalar> scalars;
  for (const double argument : arguments) {
    scalars.push_back(*Scalar::of_float(argument, ElementType::kFloat64).convert(type));
  }
  return evaluate(parse_expression(text).value(), type, scalars).value().as_float();
}

TEST(ExpressionTest, BindsAsCPlusPlusDoes) {
  EXPECT_EQ(value("$0 + $1 * $2", ElementType::kFloat64, {1, 2, 3}), 7);
  EXPECT_EQ(value("$0 - $1 - $2", ElementType::kFloat64, {1, 2, 3}), -4);
  EXPECT_EQ(value("-$0 * -$1", ElementType::kFloat64, {2, 3}), 6);
  EXPECT_EQ(value("$0 < $1 ? $0 : $1 < $2 ? $1 : $2", ElementType::kFloat64, {9, 5, 3}), 3);
  EXPECT_EQ(value("$0 | $1 & $2", ElementType::kInt32, {8, 6, 3}), 10);
  EXPECT_EQ(value("$0 == $1 && $1 != $2 || $2 > $0", ElementType::kFloat32, {1, 1, 2}), 1);
}

TEST(ExpressionTest, IntegersWrapInTheirOwnWidth) {
  EXPECT_EQ(value("$0 + $1", ElementType::kInt8, {100, 100}), -56);
  EXPECT_EQ(value("$0 * $1", ElementType::kInt16, {300, 300}), 24464);
  EXPECT_EQ(value("-$0", ElementType::kUInt8, {1}), 255);
  EXPECT_EQ(value("$0 + $1", ElementType::kBool, {1, 1}), 1);
}

TEST(ExpressionTest, NaNAndZerosAreKeptApart) {
  EXPECT_TRUE(std::isnan(value("maximum($0, $1)", ElementType::kFloat32, {1, kNaN})));
  EXPECT_EQ(value("fmax($0, $1)", ElementType::kFloat32, {1, kNaN}), 1);
  EXPECT_TRUE(std::signbit(value("-$0", ElementType::kFloat32, {0.0})));
  EXPECT_EQ(value("scalar_t(1) / $0", ElementType::kFloat32, {-0.0}), -kInfinity);
  EXPECT_EQ(value("floor_divide($0, $1)", ElementType::kFloat32, {-7, 2}), -4);
  EXPECT_EQ(value("floor_remainder($0, $1)", ElementType::kInt32, {-7, 2}), 1);
}

TEST(ExpressionTest, RefusesWhatIsNotInTheLanguage) {
  for (const char* text : {"", "$0 +", "($0", "$0)", "f $0", "$x", "$0 ? $1", "$0 << 2", "1e999", "f()"}) {
    const auto parsed = parse_expression(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(parse_expression(std::string(10000, '(')).ok());
  EXPECT_FALSE(parse_expression(std::string(10000, '-') + "$0").ok());
}

TEST(ExpressionTest, RefusesArgumentsAndFunctionsThatAreNotThere) {
  EXPECT_FALSE(evaluate(parse_expression("$1").value(), ElementType::kFloat32, {}).ok());
  const Scalar one = Scalar::of_integer(1, ElementType::kInt32);
  EXPECT_FALSE(evaluate(parse_expression("exp($0)").value(), ElementType::kInt32, std::span(&one, 1)).ok());
}

// A row that the oracle could not read would go untested in silence.
TEST(ExpressionTest, ReadsEveryRowOfTheTable) {
  int count = 0;
  for (const optable::OpInfo* op : optable::all_ops()) {
    std::vector<std::string_view> texts = {op->expression};
    for (const optable::ExpressionCase& one : op->cases) {
      texts.push_back(one.expression);
    }
    for (const std::string_view text : texts) {
      std::string numbered(text);
      for (const optable::ScalarParameter& parameter : op->parameters) {
        const std::string name = "$" + std::string(parameter.name);
        for (size_t at = 0; (at = numbered.find(name, at)) != std::string::npos;) {
          numbered.replace(at, name.size(), "$9");
        }
      }
      if (!numbered.empty()) {
        const auto parsed = parse_expression(numbered);
        EXPECT_TRUE(parsed.ok()) << op->name << ": " << (parsed.ok() ? "" : parsed.error().message());
        ++count;
      }
    }
  }
  EXPECT_GT(count, 100);
}

TEST(ScalarTest, NarrowFloatsRoundToNearestEven) {
  const auto half = [](double x) { return Scalar::of_float(x, ElementType::kFloat16).as_float(); };
  EXPECT_EQ(half(2049), 2048);
  EXPECT_EQ(half(2051), 2052);
  EXPECT_EQ(half(65519), 65504);
  EXPECT_EQ(half(65520), kInfinity);
  EXPECT_EQ(half(std::ldexp(1, -25)), 0);
  EXPECT_EQ(half(std::ldexp(1.5, -25)), std::ldexp(1, -24));
  const auto brain = [](double x) { return Scalar::of_float(x, ElementType::kBFloat16).as_float(); };
  EXPECT_EQ(brain(257), 256);
  EXPECT_EQ(brain(259), 260);
  EXPECT_EQ(brain(-3.4e38), -kInfinity);
}

TEST(ScalarTest, ConvertsAsPyTorchDoes) {
  const auto to = [](double x, ElementType type) { return Scalar::of_float(x, ElementType::kFloat64).convert(type); };
  EXPECT_EQ(to(-1.7, ElementType::kInt32)->as_integer(), -1);
  EXPECT_EQ(to(300, ElementType::kUInt8)->as_integer(), 44);
  EXPECT_EQ(to(kNaN, ElementType::kBool)->as_integer(), 1);
  EXPECT_FALSE(to(kNaN, ElementType::kInt64).has_value());
  EXPECT_FALSE(to(9223372036854775808.0, ElementType::kInt64).has_value());
  EXPECT_EQ(Scalar::of_integer((int64_t{1} << 53) + 1, ElementType::kInt64).convert(ElementType::kFloat32)->as_float(),
            9007199254740992.0);
}

}  // namespace
}  // namespace tessiq::analysis
