// Size expressions as polynomials with integer coefficients over atoms: symbols, and the operations that do not
// distribute (floor division, remainder, min, max) over operands that are normal themselves.
#include "analysis/size_algebra.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "support/int_math.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;
using Kind = SizeExpr::Kind;

// Past this many terms a product stays a product: equality is then seen less often, and compile time stays bounded.
constexpr size_t kMaxTerms = 64;

// Atoms of a product by their text, which is unique for a normal expression; sorted, repeated for powers.
using Monomial = std::vector<std::string>;

// Constant terms come last and higher degrees first, as sizes are usually written.
struct MonomialLess {
  bool operator()(const Monomial& a, const Monomial& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

class Polynomial {
 public:
  static Polynomial of_constant(int64_t value) {
    Polynomial result;
    if (value != 0) {
      result.terms_[{}] = value;
    }
    return result;
  }
  static Polynomial of_atom(const SizeExpr& atom) {
    Polynomial result;
    const std::string key = atom.to_string();
    result.terms_[{key}] = 1;
    result.atoms_.emplace(key, atom);
    return result;
  }

  bool is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }
  int64_t constant() const { return terms_.empty() ? 0 : terms_.begin()->second; }

  // False on overflow, here and below.
  bool add(const Polynomial& other) {
    atoms_.insert(other.atoms_.begin(), other.atoms_.end());
    return std::all_of(other.terms_.begin(), other.terms_.end(),
                       [&](const auto& term) { return add_term(term.first, term.second); });
  }

  std::optional<Polynomial> times(const Polynomial& other) const {
    if (terms_.size() * other.terms_.size() > kMaxTerms) {
      return std::nullopt;
    }
    Polynomial result;
    result.atoms_ = atoms_;
    result.atoms_.insert(other.atoms_.begin(), other.atoms_.end());
    for (const auto& [left, left_factor] : terms_) {
      for (const auto& [right, right_factor] : other.terms_) {
        Monomial both;
        std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
        const std::optional<int64_t> factor = checked_mul(left_factor, right_factor);
        if (!factor || !result.add_term(both, *factor)) {
          return std::nullopt;
        }
      }
    }
    return result;
  }

  // Exact quotient, where every coefficient has one.
  std::optional<Polynomial> divided_by(int64_t divisor) const {
    Polynomial result = *this;
    for (auto& [monomial, factor] : result.terms_) {
      if (factor % divisor != 0) {
        return std::nullopt;
      }
      factor /= divisor;
    }
    return result;
  }

  SizeExpr to_expr() const {
    std::vector<SizeExpr> sum;
    for (const auto& [monomial, factor] : terms_) {
      std::vector<SizeExpr> factors;
      for (const std::string& atom : monomial) {
        factors.push_back(atoms_.at(atom));
      }
      if (factor != 1 || factors.empty()) {
        factors.push_back(SizeExpr::of_constant(factor));
      }
      sum.push_back(factors.size() == 1 ? std::move(factors[0]) : SizeExpr::of(Kind::kMul, std::move(factors)));
    }
    if (sum.empty()) {
      return SizeExpr::of_constant(0);
    }
    return sum.size() == 1 ? std::move(sum[0]) : SizeExpr::of(Kind::kAdd, std::move(sum));
  }

 private:
  bool add_term(const Monomial& monomial, int64_t factor) {
    const auto [term, inserted] = terms_.emplace(monomial, factor);
    if (inserted) {
      return true;
    }
    const std::optional<int64_t> sum = checked_add(term->second, factor);
    if (!sum) {
      return false;
    }
    term->second = *sum;
    if (*sum == 0) {
      terms_.erase(term);
    }
    return true;
  }

  std::map<Monomial, int64_t, MonomialLess> terms_;  // no coefficient is 0
  std::map<std::string, SizeExpr> atoms_;
};

Polynomial polynomial(const SizeExpr& expression);

Polynomial quotient_or_remainder(const SizeExpr& expression) {
  const Polynomial dividend = polynomial(expression.operands[0]);
  const Polynomial divisor = polynomial(expression.operands[1]);
  const bool is_quotient = expression.kind == Kind::kFloorDiv;
  // Division by zero stays what it is: evaluating it is an error, and no number stands for that.
  if (divisor.is_constant() && divisor.constant() > 0) {
    const int64_t by = divisor.constant();
    if (dividend.is_constant()) {
      const int64_t value = dividend.constant();
      return Polynomial::of_constant(is_quotient ? floor_div(value, by) : floor_mod(value, by));
    }
    if (std::optional<Polynomial> exact = dividend.divided_by(by)) {
      return is_quotient ? *std::move(exact) : Polynomial::of_constant(0);
    }
  }
  return Polynomial::of_atom(SizeExpr::of(expression.kind, {dividend.to_expr(), divisor.to_expr()}));
}

void flatten(const SizeExpr& expression, Kind kind, std::map<std::string, SizeExpr>& members,
             std::optional<int64_t>& constant) {
  const SizeExpr normal = normalize(expression);
  if (normal.kind == kind) {
    for (const SizeExpr& operand : normal.operands) {
      flatten(operand, kind, members, constant);
    }
  } else if (normal.kind == Kind::kConstant) {
    const int64_t value = normal.constant;
    const int64_t so_far = constant.value_or(value);
    constant = kind == Kind::kMin ? std::min(so_far, value) : std::max(so_far, value);
  } else {
    members.emplace(normal.to_string(), normal);
  }
}

Polynomial smallest_or_largest(const SizeExpr& expression) {
  std::map<std::string, SizeExpr> members;  // by text: a fixed order, and each once
  std::optional<int64_t> constant;
  for (const SizeExpr& operand : expression.operands) {
    flatten(operand, expression.kind, members, constant);
  }
  std::vector<SizeExpr> operands;
  for (auto& [text, member] : members) {
    operands.push_back(std::move(member));
  }
  if (constant) {
    operands.push_back(SizeExpr::of_constant(*constant));
  }
  return operands.size() == 1 ? polynomial(operands[0])
                              : Polynomial::of_atom(SizeExpr::of(expression.kind, std::move(operands)));
}

Polynomial sum_or_product(const SizeExpr& expression) {
  const bool is_sum = expression.kind == Kind::kAdd;
  Polynomial result = Polynomial::of_constant(is_sum ? 0 : 1);
  for (const SizeExpr& operand : expression.operands) {
    const Polynomial next = polynomial(operand);
    bool fits = true;
    if (is_sum) {
      fits = result.add(next);
    } else if (std::optional<Polynomial> both = result.times(next)) {
      result = *std::move(both);
    } else {
      fits = false;
    }
    if (!fits) {
      return Polynomial::of_atom(expression);  // as written: still itself, only seldom seen equal to another
    }
  }
  return result;
}

Polynomial polynomial(const SizeExpr& expression) {
  switch (expression.kind) {
    case Kind::kConstant:
      return Polynomial::of_constant(expression.constant);
    case Kind::kSymbol:
      return Polynomial::of_atom(expression);
    case Kind::kAdd:
    case Kind::kMul:
      return sum_or_product(expression);
    case Kind::kFloorDiv:
    case Kind::kMod:
      return quotient_or_remainder(expression);
    case Kind::kMin:
    case Kind::kMax:
      return smallest_or_largest(expression);
  }
  return Polynomial::of_atom(expression);
}

}  // namespace

SizeExpr normalize(const SizeExpr& expression) { return polynomial(expression).to_expr(); }

bool provably_equal(const SizeExpr& a, const SizeExpr& b) { return a == b || normalize(a) == normalize(b); }

SizeExpr sum(const SizeExpr& a, const SizeExpr& b) { return normalize(SizeExpr::of(Kind::kAdd, {a, b})); }
SizeExpr product(const SizeExpr& a, const SizeExpr& b) { return normalize(SizeExpr::of(Kind::kMul, {a, b})); }

Result<SizeExpr> to_expr(const ir::Extent& extent) {
  if (extent.is_unknown()) {
    return unsupported("an extent is not known");
  }
  return extent.is_known() ? SizeExpr::of_constant(extent.known()) : SizeExpr::of_symbol(extent.name());
}

Result<SizeExpr> element_count(const ir::Shape& shape) {
  SizeExpr count = SizeExpr::of_constant(1);
  for (const ir::Extent& extent : shape) {
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr size, to_expr(extent));
    count = product(count, size);
  }
  return count;
}

Result<std::vector<SizeExpr>> stride_exprs(const ir::TensorType& type) {
  std::vector<SizeExpr> strides(type.shape.size());
  if (type.strides) {
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      TESSIQ_ASSIGN_OR_RETURN(strides[axis], to_expr((*type.strides)[axis]));
    }
    return strides;
  }
  SizeExpr next = SizeExpr::of_constant(1);
  for (size_t axis = strides.size(); axis-- > 0;) {
    strides[axis] = next;
    if (axis > 0) {
      TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, to_expr(type.shape[axis]));
      // An extent of 0 counts as 1, as in PyTorch's strides of an empty tensor.
      next = extent == SizeExpr::of_constant(0) ? next : product(next, extent);
    }
  }
  return strides;
}

}  // namespace tessiq::analysis
