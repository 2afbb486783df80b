// Sizes: an extent is a known number, a named symbol, or unknown; a symbol may be defined by an expression over others.
//
// Decides that equal symbol names are equal extents within one graph. Leaves to the program the values of free symbols,
// which it reads from the inputs once a call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace tessiq::ir {

class Extent {
 public:
  Extent() = default;                                            // unknown
  Extent(int64_t value) : kind_(Kind::kKnown), value_(value) {}  // NOLINT: a number is an extent
  static Extent unknown() { return {}; }
  static Extent symbol(std::string name);

  bool is_known() const { return kind_ == Kind::kKnown; }
  bool is_symbol() const { return kind_ == Kind::kSymbol; }
  bool is_unknown() const { return kind_ == Kind::kUnknown; }
  // Require is_known() and is_symbol().
  int64_t known() const { return value_; }
  const std::string& name() const { return name_; }

  // Equality of what is written: two unknowns compare equal here and are still not proven to be the same size.
  friend bool operator==(const Extent&, const Extent&) = default;
  // True only where every call gives both the same number.
  bool provably_equals(const Extent& other) const { return !is_unknown() && *this == other; }
  bool is(int64_t number) const { return is_known() && known() == number; }

  std::string to_string() const;  // "32", "s0", "?"

 private:
  enum class Kind : uint8_t { kUnknown, kKnown, kSymbol };

  // Not a variant: g++ 12 warns of uninitialised strings wherever one is moved into a vector.
  Kind kind_ = Kind::kUnknown;
  int64_t value_ = 0;  // 0 unless known
  std::string name_;   // empty unless a symbol
};

// An integer expression over symbols.
struct SizeExpr {
  enum class Kind { kConstant, kSymbol, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };

  Kind kind = Kind::kConstant;
  int64_t constant = 0;            // kConstant
  std::string symbol;              // kSymbol
  std::vector<SizeExpr> operands;  // kAdd, kMul, kMin, kMax: two or more; kFloorDiv, kMod: exactly two

  static SizeExpr of_constant(int64_t value);
  static SizeExpr of_symbol(std::string name);
  static SizeExpr of(Kind kind, std::vector<SizeExpr> operands);

  friend bool operator==(const SizeExpr&, const SizeExpr&) = default;
  // Infix with the fewest parentheses that parse back to the same tree: "s0 * 32", "(s0 + 1) // 2", "min(s0, s1)".
  std::string to_string() const;
  // kInvalidArgument on a symbol `value_of` does not know, on division by zero and on overflow.
  Result<int64_t> evaluate(const std::function<std::optional<int64_t>(std::string_view)>& value_of) const;
};

// What a graph takes: deeper trees are refused, so that walking one never runs out of stack.
inline constexpr int kMaxSizeExprDepth = 128;
// kInvalidArgument on a wrong number of operands, a symbol that is not a name, or a tree that is too deep.
Result<void> check_size_expr(const SizeExpr& expr);

struct SymbolDefinition {
  std::string name;
  // Absent for a free symbol, whose value comes with the call.
  std::optional<SizeExpr> expression;
};

}  // namespace tessiq::ir
