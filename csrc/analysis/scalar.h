// One element of a tensor, by value, in any element type: what constant folding and the tests' interpreter compute
// with.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/attribute.h"
#include "ir/element_type.h"

namespace tessiq::analysis {

// A number that its element type can hold exactly.
class Scalar {
 public:
  // Rounded to a floating `type`, to nearest even, every NaN becoming the one; wrapped into an integral one.
  static Scalar of_float(double value, ir::ElementType type);
  static Scalar of_integer(int64_t value, ir::ElementType type);
  // A number given as an attribute: bool, int64_t or double. Nothing for another attribute, or where convert() has
  // none.
  static std::optional<Scalar> of_attribute(const ir::Attribute& attribute, ir::ElementType type);

  ir::ElementType type() const { return type_; }
  // Of a floating type.
  double as_float() const { return ir::is_floating(type_) ? float_ : static_cast<double>(integer_); }
  // Requires an integral type.
  int64_t as_integer() const { return integer_; }

  // PyTorch's conversion: integers wrap, anything to bool is "differs from zero", a float to an integer truncates, by
  // way of int64. Nothing for a float that int64 does not hold: C++ leaves it open, and machines differ.
  std::optional<Scalar> convert(ir::ElementType type) const;
  // A bool, an integer or a float, so that of_attribute() gives the same scalar back.
  ir::Attribute to_attribute() const;

  // By bits, every NaN being one.
  friend bool operator==(const Scalar& a, const Scalar& b);

 private:
  ir::ElementType type_ = ir::ElementType::kFloat32;
  double float_ = 0;     // floating types
  int64_t integer_ = 0;  // integral types; 0 or 1 for bool
};

// Rounds to nearest even, past the largest number to infinity.
double round_to(ir::ElementType floating, double value);

}  // namespace tessiq::analysis
