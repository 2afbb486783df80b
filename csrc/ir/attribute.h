// The closed set of what a node carries besides tensors.
//
// Positional arguments of the imported call are keyed by their position ("1"), keyword arguments by their name
// ("alpha"), and decisions of passes by "tessiq.<name>". `list.<key>` tells how operands fill a list argument: one
// entry a member, 1 for the next operand and 0 for None. Anything richer is usually asking to be an operand.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/size_expr.h"

namespace tessiq::ir {

struct None {
  friend bool operator==(None, None) = default;
};

// A list of sizes may hold symbols; every list of integers is one.
using SizeList = std::vector<Extent>;
using FloatList = std::vector<double>;

// Extent as an alternative of its own is a symbol given as a number; a known integer is always int64_t.
using Attribute = std::variant<None, bool, int64_t, double, std::string, Extent, SizeList, FloatList>;

// Numbers before names, numbers by value, so that printing follows the call's own order.
struct AttributeKeyLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

using AttributeMap = std::map<std::string, Attribute, AttributeKeyLess>;

// Bitwise for doubles, so that NaN equals itself and 0.0 differs from -0.0: two nodes are duplicates only if they are.
bool attributes_equal(const Attribute& a, const Attribute& b);
bool attribute_maps_equal(const AttributeMap& a, const AttributeMap& b);
// As the text form writes it: none, true, 3, 1.5 (17 digits at most, always with a point or exponent; inf, -inf, nan),
// "text", s0, [1, s0], [0.5, 2.0] (an empty list is a list of sizes).
std::string attribute_to_string(const Attribute& attribute);
// The one spelling of values that print alike: a known extent is an integer, an empty list is a list of sizes, and
// every NaN is the same. A node holds only these.
Attribute normalized(Attribute attribute);

inline constexpr std::string_view kPassPrefix = "tessiq.";

}  // namespace tessiq::ir
