// One function an intrinsic, and the tables that name them.
#include "analysis/intrinsics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

namespace tessiq::analysis {
namespace {

template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

// Unsigned and at least 32 bits wide, so that products of narrow types do not overflow an int.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
bool is_smallest(T value) {
  return std::is_signed_v<T> && value == std::numeric_limits<T>::lowest();
}

template <typename T>
T abs_value(T x) {
  if constexpr (kIsFloat<T>) {
    return std::fabs(x);
  } else {
    return x < T(0) && !is_smallest(x) ? static_cast<T>(-x) : x;
  }
}

template <typename T>
T maximum(T a, T b) {
  return a != a ? a : (b != b ? b : (a < b ? b : a));
}
template <typename T>
T minimum(T a, T b) {
  return a != a ? a : (b != b ? b : (b < a ? b : a));
}
template <typename T>
T number_maximum(T a, T b) {
  return a != a ? b : (b != b ? a : (a < b ? b : a));
}
template <typename T>
T number_minimum(T a, T b) {
  return a != a ? b : (b != b ? a : (b < a ? b : a));
}

template <typename T>
T trunc_divide(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return std::trunc(a / b);
  } else if (b == T(0)) {
    return T(0);
  } else if (is_smallest(a) && b == static_cast<T>(-1)) {
    return a;
  } else {
    return static_cast<T>(a / b);
  }
}

template <typename T>
T trunc_remainder(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return std::fmod(a, b);
  } else if (b == T(0) || (std::is_signed_v<T> && b == static_cast<T>(-1))) {
    return T(0);
  } else {
    return static_cast<T>(a % b);
  }
}

template <typename T>
T floor_divide(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (b == 0) {
      return a / b;
    }
    const T remainder = std::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0)) {
      quotient -= 1;
    }
    if (quotient == 0) {
      return std::copysign(T(0), a / b);
    }
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + 1 : floored;
  } else {
    const T quotient = trunc_divide(a, b);
    const bool is_below = trunc_remainder(a, b) != T(0) && ((a < T(0)) != (b < T(0)));
    return is_below ? static_cast<T>(quotient - 1) : quotient;
  }
}

template <typename T>
T floor_remainder(T a, T b) {
  const T remainder = trunc_remainder(a, b);
  const bool has_other_sign = remainder != T(0) && ((b < T(0)) != (remainder < T(0)));
  return has_other_sign ? static_cast<T>(remainder + b) : remainder;
}

template <typename T>
T power(T base, T exponent) {
  if constexpr (kIsFloat<T>) {
    return std::pow(base, exponent);
  } else if (exponent < T(0)) {
    if (base == T(1)) {
      return T(1);
    }
    const bool is_minus_one = std::is_signed_v<T> && base == static_cast<T>(-1);
    return is_minus_one ? static_cast<T>((exponent % 2) != 0 ? -1 : 1) : T(0);
  } else {
    Wrapping<T> result = 1;
    Wrapping<T> factor = static_cast<Wrapping<T>>(base);
    for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
      result = (rest & 1) != 0 ? result * factor : result;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
}

template <typename T>
T shift_left(T value, T count) {
  if (count < T(0) || static_cast<uint64_t>(count) >= sizeof(T) * 8) {
    return T(0);
  }
  return static_cast<T>(static_cast<Wrapping<T>>(value) << static_cast<unsigned>(count));
}

template <typename T>
T shift_right(T value, T count) {
  if (count < T(0) || static_cast<uint64_t>(count) >= sizeof(T) * 8) {
    return value < T(0) ? static_cast<T>(-1) : T(0);
  }
  return static_cast<T>(value >> static_cast<unsigned>(count));
}

template <typename T>
T bit_not(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}

template <typename T>
struct Unary {
  std::string_view name;
  T (*function)(T);
};
template <typename T>
struct Binary {
  std::string_view name;
  T (*function)(T, T);
};

template <typename T>
constexpr Unary<T> kFloatUnary[] = {
    {"exp", [](T x) -> T { return std::exp(x); }},
    {"exp2", [](T x) -> T { return std::exp2(x); }},
    {"expm1", [](T x) -> T { return std::expm1(x); }},
    {"log", [](T x) -> T { return std::log(x); }},
    {"log2", [](T x) -> T { return std::log2(x); }},
    {"log10", [](T x) -> T { return std::log10(x); }},
    {"log1p", [](T x) -> T { return std::log1p(x); }},
    {"sqrt", [](T x) -> T { return std::sqrt(x); }},
    {"rsqrt", [](T x) -> T { return 1 / std::sqrt(x); }},
    {"sin", [](T x) -> T { return std::sin(x); }},
    {"cos", [](T x) -> T { return std::cos(x); }},
    {"tan", [](T x) -> T { return std::tan(x); }},
    {"asin", [](T x) -> T { return std::asin(x); }},
    {"acos", [](T x) -> T { return std::acos(x); }},
    {"atan", [](T x) -> T { return std::atan(x); }},
    {"sinh", [](T x) -> T { return std::sinh(x); }},
    {"cosh", [](T x) -> T { return std::cosh(x); }},
    {"tanh", [](T x) -> T { return std::tanh(x); }},
    {"asinh", [](T x) -> T { return std::asinh(x); }},
    {"acosh", [](T x) -> T { return std::acosh(x); }},
    {"atanh", [](T x) -> T { return std::atanh(x); }},
    {"erf", [](T x) -> T { return std::erf(x); }},
    {"erfc", [](T x) -> T { return std::erfc(x); }},
    {"lgamma", [](T x) -> T { return std::lgamma(x); }},
    {"floor", [](T x) -> T { return std::floor(x); }},
    {"ceil", [](T x) -> T { return std::ceil(x); }},
    {"trunc", [](T x) -> T { return std::trunc(x); }},
    {"rint", [](T x) -> T { return std::rint(x); }},
    {"is_nan", [](T x) -> T { return std::isnan(x); }},
    {"is_inf", [](T x) -> T { return std::isinf(x); }},
    {"is_finite", [](T x) -> T { return std::isfinite(x); }},
    {"sign_bit", [](T x) -> T { return std::signbit(x); }},
    {"abs_value", abs_value<T>},
};

template <typename T>
constexpr Unary<T> kIntegerUnary[] = {
    {"is_nan", [](T) -> T { return false; }},
    {"is_inf", [](T) -> T { return false; }},
    {"is_finite", [](T) -> T { return true; }},
    {"sign_bit", [](T x) -> T { return x < T(0); }},
    {"abs_value", abs_value<T>},
    {"bit_not", bit_not<T>},
};

template <typename T>
constexpr Binary<T> kBinary[] = {
    {"maximum", maximum<T>},
    {"minimum", minimum<T>},
    {"fmax", number_maximum<T>},
    {"fmin", number_minimum<T>},
    {"trunc_divide", trunc_divide<T>},
    {"trunc_remainder", trunc_remainder<T>},
    {"floor_divide", floor_divide<T>},
    {"floor_remainder", floor_remainder<T>},
    {"power", power<T>},
};

template <typename T>
constexpr Binary<T> kFloatBinary[] = {
    {"atan2", [](T a, T b) -> T { return std::atan2(a, b); }},
    {"hypot", [](T a, T b) -> T { return std::hypot(a, b); }},
    {"fmod", [](T a, T b) -> T { return std::fmod(a, b); }},
    {"pow", [](T a, T b) -> T { return std::pow(a, b); }},
    {"copysign", [](T a, T b) -> T { return std::copysign(a, b); }},
    {"nextafter", [](T a, T b) -> T { return std::nextafter(a, b); }},
};

template <typename T>
constexpr Binary<T> kIntegerBinary[] = {
    {"shift_left", shift_left<T>},
    {"shift_right", shift_right<T>},
};

template <typename Table>
auto find(const Table& table, std::string_view name) -> decltype(std::begin(table)->function) {
  const auto* found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.name == name; });
  return found == std::end(table) ? nullptr : found->function;
}

constexpr std::string_view kReproducible[] = {
    "sqrt",      "floor",   "ceil",   "trunc",     "rint",       "fmod",        "copysign",
    "nextafter", "is_nan",  "is_inf", "is_finite", "sign_bit",   "abs_value",   "bit_not",
    "maximum",   "minimum", "fmax",   "fmin",      "shift_left", "shift_right", "trunc_remainder",
};
// Of the reproducible ones, those whose float result is not exact.
constexpr std::string_view kRounding[] = {"sqrt"};

}  // namespace

template <typename T>
std::optional<T> call_intrinsic(std::string_view name, std::span<const T> arguments) {
  if (arguments.size() == 1) {
    T (*function)(T) = nullptr;
    if constexpr (kIsFloat<T>) {
      function = find(kFloatUnary<T>, name);
    } else {
      function = find(kIntegerUnary<T>, name);
    }
    return function == nullptr ? std::nullopt : std::optional<T>(function(arguments[0]));
  }
  if (arguments.size() != 2) {
    return std::nullopt;
  }
  T (*function)(T, T) = find(kBinary<T>, name);
  if constexpr (kIsFloat<T>) {
    function = function == nullptr ? find(kFloatBinary<T>, name) : function;
  } else {
    function = function == nullptr ? find(kIntegerBinary<T>, name) : function;
  }
  return function == nullptr ? std::nullopt : std::optional<T>(function(arguments[0], arguments[1]));
}

template std::optional<bool> call_intrinsic(std::string_view, std::span<const bool>);
template std::optional<uint8_t> call_intrinsic(std::string_view, std::span<const uint8_t>);
template std::optional<int8_t> call_intrinsic(std::string_view, std::span<const int8_t>);
template std::optional<int16_t> call_intrinsic(std::string_view, std::span<const int16_t>);
template std::optional<int32_t> call_intrinsic(std::string_view, std::span<const int32_t>);
template std::optional<int64_t> call_intrinsic(std::string_view, std::span<const int64_t>);
template std::optional<float> call_intrinsic(std::string_view, std::span<const float>);
template std::optional<double> call_intrinsic(std::string_view, std::span<const double>);

bool is_reproducible_intrinsic(std::string_view name) {
  return std::find(std::begin(kReproducible), std::end(kReproducible), name) != std::end(kReproducible);
}

bool intrinsic_rounds(std::string_view name) {
  return std::find(std::begin(kRounding), std::end(kRounding), name) != std::end(kRounding);
}

}  // namespace tessiq::analysis
