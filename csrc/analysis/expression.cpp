// Evaluation of a tree in one type, and the two questions constant folding asks of it.
#include "analysis/expression.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "analysis/intrinsics.h"

namespace tessiq::analysis {
namespace {

using ir::ElementType;
using Kind = Expression::Kind;

constexpr size_t kMostArguments = 2;

// Integers wrap, as generated code does; a bool is true where the integer is not zero.
template <typename T>
std::optional<T> arithmetic(char op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
  } else {
    using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const auto x = static_cast<Wide>(a);
    const auto y = static_cast<Wide>(b);
    if (op == '/') {
      return call_intrinsic<T>("trunc_divide", std::array{a, b});
    }
    return static_cast<T>(op == '+' ? x + y : op == '-' ? x - y : x * y);
  }
}

template <typename T>
std::optional<T> bitwise(char op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nullopt;
  } else {
    return static_cast<T>(op == '&' ? a & b : op == '|' ? a | b : a ^ b);
  }
}

template <typename T>
std::optional<T> binary(const std::string& op, T a, T b) {
  if (op.size() == 1 && std::string_view("+-*/").find(op[0]) != std::string_view::npos) {
    return arithmetic(op[0], a, b);
  }
  if (op == "<" || op == ">") {
    return static_cast<T>(op == "<" ? a < b : a > b);
  }
  if (op == "<=" || op == ">=") {
    return static_cast<T>(op == "<=" ? a <= b : a >= b);
  }
  if (op == "==" || op == "!=") {
    return static_cast<T>(op == "==" ? a == b : a != b);
  }
  if (op == "&&" || op == "||") {
    const bool x = a != T(0);
    const bool y = b != T(0);
    return static_cast<T>(op == "&&" ? x && y : x || y);
  }
  return bitwise(op[0], a, b);
}

template <typename T>
class Evaluator {
 public:
  explicit Evaluator(std::vector<T> arguments) : arguments_(std::move(arguments)) {}

  // Both branches of a select and both sides of && and || are evaluated: nothing in the language has an effect.
  std::optional<T> run(const Expression& expression) const {
    if (expression.kind == Kind::kLiteral) {
      return static_cast<T>(expression.literal);
    }
    if (expression.kind == Kind::kArgument) {
      const auto index = static_cast<size_t>(expression.argument);
      return index < arguments_.size() ? std::optional<T>(arguments_[index]) : std::nullopt;
    }
    std::array<T, kMostArguments + 1> values{};
    if (expression.parts.size() > values.size()) {
      return std::nullopt;
    }
    for (size_t i = 0; i < expression.parts.size(); ++i) {
      const std::optional<T> value = run(expression.parts[i]);
      if (!value) {
        return std::nullopt;
      }
      values[i] = *value;
    }
    switch (expression.kind) {
      case Kind::kUnary:
        return expression.name == "!" ? static_cast<T>(values[0] == T(0)) : negated(values[0]);
      case Kind::kBinary:
        return binary(expression.name, values[0], values[1]);
      case Kind::kSelect:
        return values[0] != T(0) ? values[1] : values[2];
      default:
        return call_intrinsic<T>(expression.name, std::span(values.data(), expression.parts.size()));
    }
  }

 private:
  // Not 0 - x: that loses the sign of zero.
  static std::optional<T> negated(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return arithmetic('-', T(0), x);
    }
  }

  std::vector<T> arguments_;
};

template <typename T>
T value_of(const Scalar& scalar) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(scalar.as_float());
  } else {
    return static_cast<T>(scalar.as_integer());
  }
}

template <typename T>
Result<Scalar> evaluate_as(const Expression& expression, ElementType compute, std::span<const Scalar> arguments) {
  std::vector<T> values;
  for (const Scalar& argument : arguments) {
    values.push_back(value_of<T>(argument));
  }
  const std::optional<T> result = Evaluator<T>(std::move(values)).run(expression);
  if (!result) {
    return invalid_argument("expression calls a function or reads an argument that " +
                            std::string(ir::element_type_name(compute)) + " does not have");
  }
  if constexpr (std::is_floating_point_v<T>) {
    return Scalar::of_float(*result, compute);
  } else {
    return Scalar::of_integer(static_cast<int64_t>(*result), compute);
  }
}

}  // namespace

int rounding_operations(const Expression& expression) {
  const bool is_arithmetic =
      expression.kind == Kind::kBinary && std::string_view("+-*/").find(expression.name) != std::string_view::npos;
  int count = is_arithmetic || (expression.kind == Kind::kCall && intrinsic_rounds(expression.name)) ? 1 : 0;
  for (const Expression& part : expression.parts) {
    count += rounding_operations(part);
  }
  return count;
}

bool is_reproducible(const Expression& expression) {
  if (expression.kind == Kind::kCall && !is_reproducible_intrinsic(expression.name)) {
    return false;
  }
  return std::all_of(expression.parts.begin(), expression.parts.end(), is_reproducible);
}

Result<Scalar> evaluate(const Expression& expression, ElementType compute, std::span<const Scalar> arguments) {
  switch (compute) {
    case ElementType::kBool:
      return evaluate_as<bool>(expression, compute, arguments);
    case ElementType::kUInt8:
      return evaluate_as<uint8_t>(expression, compute, arguments);
    case ElementType::kInt8:
      return evaluate_as<int8_t>(expression, compute, arguments);
    case ElementType::kInt16:
      return evaluate_as<int16_t>(expression, compute, arguments);
    case ElementType::kInt32:
      return evaluate_as<int32_t>(expression, compute, arguments);
    case ElementType::kInt64:
      return evaluate_as<int64_t>(expression, compute, arguments);
    case ElementType::kFloat32:
      return evaluate_as<float>(expression, compute, arguments);
    case ElementType::kFloat64:
      return evaluate_as<double>(expression, compute, arguments);
    default:
      return internal("an expression is evaluated in a half type, which no step computes in");
  }
}

}  // namespace tessiq::analysis
