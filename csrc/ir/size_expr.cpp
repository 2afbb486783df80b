// Extents and size expressions: construction, text, evaluation.
#include "ir/size_expr.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/name.h"
#include "support/int_math.h"

namespace tessiq::ir {
namespace {

using Kind = SizeExpr::Kind;

bool is_product(Kind kind) { return kind == Kind::kMul || kind == Kind::kFloorDiv || kind == Kind::kMod; }

// Whether `operand` standing at `position` under `parent` needs parentheses to parse back as it is. Products associate
// to the left, so the first operand may be another kind of product; a sum in a sum or a product in a product would be
// merged.
bool needs_parentheses(const SizeExpr& operand, Kind parent, size_t position) {
  if (operand.kind == Kind::kAdd) {
    return true;
  }
  if (!is_product(parent) || !is_product(operand.kind)) {
    return false;
  }
  return position > 0 || (parent == Kind::kMul && operand.kind == Kind::kMul);
}

std::string_view infix_symbol(Kind kind) {
  switch (kind) {
    case Kind::kAdd:
      return " + ";
    case Kind::kMul:
      return " * ";
    case Kind::kFloorDiv:
      return " // ";
    case Kind::kMod:
      return " % ";
    default:
      return "";
  }
}

std::string call_to_string(const SizeExpr& expr) {
  std::string text = expr.kind == Kind::kMin ? "min(" : "max(";
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    text += (i == 0 ? "" : ", ") + expr.operands[i].to_string();
  }
  return text + ")";
}

Result<int64_t> combine(Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case Kind::kAdd:
    case Kind::kMul: {
      const std::optional<int64_t> value = kind == Kind::kAdd ? checked_add(a, b) : checked_mul(a, b);
      if (!value) {
        return invalid_argument("size " + std::to_string(a) + std::string(infix_symbol(kind)) + std::to_string(b) +
                                " does not fit in 64 bits");
      }
      return *value;
    }
    case Kind::kFloorDiv:
    case Kind::kMod:
      if (b == 0) {
        return invalid_argument("size " + std::to_string(a) + std::string(infix_symbol(kind)) + "0 divides by zero");
      }
      if (b == -1 && a == std::numeric_limits<int64_t>::min()) {
        // The one quotient that overflows; its remainder is zero, but the machine's instruction traps.
        return kind == Kind::kMod ? Result<int64_t>(0)
                                  : invalid_argument("size " + std::to_string(a) + " // -1 does not fit in 64 bits");
      }
      return kind == Kind::kMod ? floor_mod(a, b) : floor_div(a, b);
    case Kind::kMin:
      return std::min(a, b);
    case Kind::kMax:
      return std::max(a, b);
    default:
      return internal("a size expression combines two operands with a leaf kind");
  }
}

Result<void> check(const SizeExpr& expr, int depth) {
  if (depth > kMaxSizeExprDepth) {
    return invalid_argument("size expression is nested deeper than " + std::to_string(kMaxSizeExprDepth));
  }
  const size_t count = expr.operands.size();
  switch (expr.kind) {
    case Kind::kConstant:
    case Kind::kSymbol:
      if (count != 0) {
        return invalid_argument("a constant or symbol in a size expression has operands");
      }
      if (expr.kind == Kind::kSymbol && !is_symbol_name(expr.symbol)) {
        return invalid_argument("\"" + expr.symbol + "\" cannot name a size symbol");
      }
      return {};
    case Kind::kFloorDiv:
    case Kind::kMod:
      if (count != 2) {
        return invalid_argument("a size division takes 2 operands, found " + std::to_string(count));
      }
      break;
    default:
      if (count < 2) {
        return invalid_argument("a size sum, product, min or max takes 2 operands or more, found " +
                                std::to_string(count));
      }
  }
  for (const SizeExpr& operand : expr.operands) {
    TESSIQ_RETURN_IF_ERROR(check(operand, depth + 1));
  }
  return {};
}

}  // namespace

Result<void> check_size_expr(const SizeExpr& expr) { return check(expr, 1); }

Extent Extent::symbol(std::string name) {
  Extent extent;
  extent.kind_ = Extent::Kind::kSymbol;
  extent.name_ = std::move(name);
  return extent;
}

std::string Extent::to_string() const {
  if (is_known()) {
    return std::to_string(known());
  }
  return is_symbol() ? name() : "?";
}

SizeExpr SizeExpr::of_constant(int64_t value) {
  SizeExpr expr;
  expr.constant = value;
  return expr;
}

SizeExpr SizeExpr::of_symbol(std::string name) {
  SizeExpr expr;
  expr.kind = Kind::kSymbol;
  expr.symbol = std::move(name);
  return expr;
}

SizeExpr SizeExpr::of(Kind kind, std::vector<SizeExpr> operands) {
  SizeExpr expr;
  expr.kind = kind;
  expr.operands = std::move(operands);
  return expr;
}

std::string SizeExpr::to_string() const {
  switch (kind) {
    case Kind::kConstant:
      return std::to_string(constant);
    case Kind::kSymbol:
      return symbol;
    case Kind::kMin:
    case Kind::kMax:
      return call_to_string(*this);
    default:
      break;
  }
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string operand = operands[i].to_string();
    text += i == 0 ? "" : infix_symbol(kind);
    text += needs_parentheses(operands[i], kind, i) ? "(" + operand + ")" : operand;
  }
  return text;
}

Result<int64_t> SizeExpr::evaluate(const std::function<std::optional<int64_t>(std::string_view)>& value_of) const {
  if (kind == Kind::kConstant) {
    return constant;
  }
  if (kind == Kind::kSymbol) {
    const std::optional<int64_t> value = value_of(symbol);
    if (!value) {
      return invalid_argument("size symbol " + symbol + " has no value");
    }
    return *value;
  }
  if (operands.empty()) {
    return invalid_argument("a size expression lacks its operands");
  }
  TESSIQ_ASSIGN_OR_RETURN(int64_t accumulated, operands[0].evaluate(value_of));
  for (size_t i = 1; i < operands.size(); ++i) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t operand, operands[i].evaluate(value_of));
    TESSIQ_ASSIGN_OR_RETURN(accumulated, combine(kind, accumulated, operand));
  }
  return accumulated;
}

}  // namespace tessiq::ir
