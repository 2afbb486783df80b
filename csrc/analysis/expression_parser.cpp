// Precedence climbing over the operators of the table's expressions.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "analysis/expression.h"
#include "ir/name.h"

namespace tessiq::analysis {
namespace {

using Kind = Expression::Kind;

// The longer spellings first, so that `<=` is not read as `<`.
struct BinaryOperator {
  std::string_view spelling;
  int precedence;
};
constexpr BinaryOperator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"|", 3}, {"^", 4},
    {"&", 5},  {"<", 7},  {">", 7},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},
};

// Rows may come from packages, so text must not be able to exhaust the stack.
constexpr int kMaxDepth = 64;

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Result<Expression> whole() {
    TESSIQ_ASSIGN_OR_RETURN(Expression result, select());
    skip_blanks();
    if (position_ < text_.size()) {
      return expected("an operator or the end");
    }
    return result;
  }

 private:
  Result<Expression> select() {
    if (++depth_ > kMaxDepth) {
      return expected("less nesting");
    }
    TESSIQ_ASSIGN_OR_RETURN(Expression condition, binary(1));
    if (take("?")) {
      TESSIQ_ASSIGN_OR_RETURN(Expression if_true, select());
      if (!take(":")) {
        return expected("':'");
      }
      TESSIQ_ASSIGN_OR_RETURN(Expression if_false, select());
      condition = tree(Kind::kSelect, "?", {std::move(condition), std::move(if_true), std::move(if_false)});
    }
    --depth_;
    return condition;
  }

  Result<Expression> binary(int least) {
    TESSIQ_ASSIGN_OR_RETURN(Expression left, unary());
    while (const BinaryOperator* found = peek_operator(least)) {
      take(found->spelling);
      TESSIQ_ASSIGN_OR_RETURN(Expression right, binary(found->precedence + 1));
      left = tree(Kind::kBinary, found->spelling, {std::move(left), std::move(right)});
    }
    return left;
  }

  Result<Expression> unary() {
    for (const std::string_view sign : {"-", "!"}) {
      if (take(sign)) {
        if (++depth_ > kMaxDepth) {
          return expected("less nesting");
        }
        TESSIQ_ASSIGN_OR_RETURN(Expression operand, unary());
        --depth_;
        return tree(Kind::kUnary, sign, {std::move(operand)});
      }
    }
    return primary();
  }

  Result<Expression> primary() {
    if (take("(")) {
      TESSIQ_ASSIGN_OR_RETURN(Expression inner, select());
      return take(")") ? Result<Expression>(std::move(inner)) : expected("')'");
    }
    if (take("$")) {
      return argument();
    }
    skip_blanks();
    const char c = position_ < text_.size() ? text_[position_] : '\0';
    if (ir::is_digit(c)) {
      return literal();
    }
    return ir::is_letter(c) ? call() : expected("an argument, a literal, a call or '('");
  }

  Result<Expression> argument() {
    Expression result;
    result.kind = Kind::kArgument;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), result.argument);
    if (error != std::errc() || result.argument < 0) {
      return expected("the number of an argument");
    }
    position_ += static_cast<size_t>(end - begin);
    return result;
  }

  Result<Expression> literal() {
    Expression result;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), result.literal);
    if (error != std::errc()) {
      return expected("a number that fits in a double");
    }
    position_ += static_cast<size_t>(end - begin);
    return result;
  }

  Result<Expression> call() {
    const size_t start = position_;
    while (position_ < text_.size() && ir::is_name_character(text_[position_])) {
      ++position_;
    }
    const std::string_view name = text_.substr(start, position_ - start);
    if (!take("(")) {
      return expected("'(' after " + std::string(name));
    }
    std::vector<Expression> arguments;
    do {
      TESSIQ_ASSIGN_OR_RETURN(Expression argument, select());
      arguments.push_back(std::move(argument));
    } while (take(","));
    if (!take(")")) {
      return expected("')'");
    }
    if (name == "scalar_t" && arguments.size() == 1) {
      return std::move(arguments.front());
    }
    return tree(Kind::kCall, name, std::move(arguments));
  }

  static Expression tree(Kind kind, std::string_view name, std::vector<Expression> parts) {
    Expression result;
    result.kind = kind;
    result.name = name;
    result.parts = std::move(parts);
    return result;
  }

  const BinaryOperator* peek_operator(int least) {
    skip_blanks();
    const auto* found = std::find_if(
        std::begin(kOperators), std::end(kOperators),
        [&](const BinaryOperator& candidate) { return text_.substr(position_).starts_with(candidate.spelling); });
    return found != std::end(kOperators) && found->precedence >= least ? found : nullptr;
  }

  bool take(std::string_view spelling) {
    skip_blanks();
    if (!text_.substr(position_).starts_with(spelling)) {
      return false;
    }
    position_ += spelling.size();
    return true;
  }

  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] == ' ') {
      ++position_;
    }
  }

  Error expected(const std::string& what) const {
    return invalid_argument("expected " + what + " at character " + std::to_string(position_ + 1) +
                            " of expression \"" + std::string(text_) + "\"");
  }

  std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text) { return ExpressionParser(text).whole(); }

}  // namespace tessiq::analysis
