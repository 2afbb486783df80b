// Rounding and conversion between element types.
#include "analysis/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessiq::analysis {
namespace {

using ir::ElementType;

// Significant bits, the exponent of the smallest subnormal, and the largest finite number.
struct NarrowFormat {
  int precision;
  int least_exponent;
  double largest;
};
constexpr NarrowFormat kHalf = {11, -24, 65504.0};
constexpr NarrowFormat kBFloat = {8, -133, 3.3895313892515355e38};

// From float, as the conversions of PyTorch and of the hardware are: a double is rounded to float first.
double round_to(const NarrowFormat& format, double value) {
  const double single = static_cast<float>(value);
  if (!std::isfinite(single) || single == 0) {
    return single;
  }
  int exponent = 0;
  std::frexp(single, &exponent);
  const int last_place = std::max(exponent - format.precision, format.least_exponent);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(single, -last_place)), last_place);
  return std::fabs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), rounded)
                                             : rounded;
}

int64_t wrap(int64_t value, ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return value != 0 ? 1 : 0;
    case ElementType::kUInt8:
      return static_cast<uint8_t>(value);
    case ElementType::kInt8:
      return static_cast<int8_t>(value);
    case ElementType::kInt16:
      return static_cast<int16_t>(value);
    case ElementType::kInt32:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

}  // namespace

double round_to(ElementType floating, double value) {
  switch (floating) {
    case ElementType::kFloat16:
      return round_to(kHalf, value);
    case ElementType::kBFloat16:
      return round_to(kBFloat, value);
    case ElementType::kFloat32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

Scalar Scalar::of_float(double value, ElementType type) {
  Scalar scalar;
  scalar.type_ = type;
  // IEEE 754 leaves the sign and payload of a computed NaN open, and machines differ.
  scalar.float_ = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : round_to(type, value);
  return scalar;
}

Scalar Scalar::of_integer(int64_t value, ElementType type) {
  Scalar scalar;
  scalar.type_ = type;
  scalar.integer_ = wrap(value, type);
  return scalar;
}

std::optional<Scalar> Scalar::of_attribute(const ir::Attribute& attribute, ElementType type) {
  if (const bool* value = std::get_if<bool>(&attribute)) {
    return of_integer(*value ? 1 : 0, ElementType::kBool).convert(type);
  }
  if (const int64_t* value = std::get_if<int64_t>(&attribute)) {
    return of_integer(*value, ElementType::kInt64).convert(type);
  }
  if (const double* value = std::get_if<double>(&attribute)) {
    return of_float(*value, ElementType::kFloat64).convert(type);
  }
  return std::nullopt;
}

std::optional<Scalar> Scalar::convert(ElementType type) const {
  if (!ir::is_floating(type_)) {
    // int64 goes straight to float: by way of double it would round twice.
    if (type == ElementType::kFloat64) {
      return of_float(static_cast<double>(integer_), type);
    }
    return ir::is_floating(type) ? of_float(static_cast<float>(integer_), type) : of_integer(integer_, type);
  }
  if (ir::is_floating(type)) {
    return of_float(float_, type);
  }
  if (type == ElementType::kBool) {
    return of_integer(float_ != 0 ? 1 : 0, type);
  }
  // 2^63 is a double, the largest int64 is not.
  constexpr double kLimit = 9223372036854775808.0;
  if (!(float_ >= -kLimit && float_ < kLimit)) {
    return std::nullopt;
  }
  return of_integer(static_cast<int64_t>(float_), type);
}

ir::Attribute Scalar::to_attribute() const {
  if (ir::is_floating(type_)) {
    return float_;
  }
  return type_ == ElementType::kBool ? ir::Attribute(integer_ != 0) : ir::Attribute(integer_);
}

bool operator==(const Scalar& a, const Scalar& b) {
  if (a.type_ != b.type_) {
    return false;
  }
  if (!ir::is_floating(a.type_)) {
    return a.integer_ == b.integer_;
  }
  if (std::isnan(a.float_) || std::isnan(b.float_)) {
    return std::isnan(a.float_) && std::isnan(b.float_);
  }
  return a.float_ == b.float_ && std::signbit(a.float_) == std::signbit(b.float_);
}

}  // namespace tessiq::analysis
