// Recursive descent over size expressions, with a bound on depth: text must not be able to exhaust the stack.
#include "ir/text/size_expr_parser.h"

#include <optional>
#include <utility>

#include "ir/name.h"

namespace tessiq::ir {
namespace {

using Kind = SizeExpr::Kind;

class SizeExprParser {
 public:
  explicit SizeExprParser(TokenStream& tokens) : tokens_(tokens) {}

  Result<SizeExpr> sum() {
    if (++depth_ > kMaxSizeExprDepth) {
      return too_deep();
    }
    TESSIQ_ASSIGN_OR_RETURN(SizeExpr first, product());
    std::vector<SizeExpr> terms;
    terms.push_back(std::move(first));
    while (tokens_.take_if("+")) {
      TESSIQ_ASSIGN_OR_RETURN(SizeExpr term, product());
      terms.push_back(std::move(term));
    }
    --depth_;
    return terms.size() == 1 ? std::move(terms.front()) : SizeExpr::of(Kind::kAdd, std::move(terms));
  }

 private:
  Result<SizeExpr> product() {
    TESSIQ_ASSIGN_OR_RETURN(SizeExpr result, atom());
    bool is_open = false;  // the product at hand was made by this loop, so that one more factor joins it
    int divisions = 0;     // each nests the tree by one more level
    while (const std::optional<Kind> kind = take_operator()) {
      TESSIQ_ASSIGN_OR_RETURN(SizeExpr factor, atom());
      if (*kind == Kind::kMul && is_open) {
        result.operands.push_back(std::move(factor));
        continue;
      }
      if (++divisions > kMaxSizeExprDepth) {
        return too_deep();
      }
      std::vector<SizeExpr> operands;
      operands.push_back(std::move(result));
      operands.push_back(std::move(factor));
      result = SizeExpr::of(*kind, std::move(operands));
      is_open = *kind == Kind::kMul;
    }
    return result;
  }

  std::optional<Kind> take_operator() {
    if (tokens_.take_if("*")) {
      return Kind::kMul;
    }
    if (tokens_.take_if("//")) {
      return Kind::kFloorDiv;
    }
    return tokens_.take_if("%") ? std::optional(Kind::kMod) : std::nullopt;
  }

  Result<SizeExpr> atom() {
    if (tokens_.take_if("(")) {
      TESSIQ_ASSIGN_OR_RETURN(SizeExpr inner, sum());
      TESSIQ_RETURN_IF_ERROR(tokens_.expect(")"));
      return inner;
    }
    if (tokens_.at_word("min") || tokens_.at_word("max")) {
      return call();
    }
    const Token& token = tokens_.peek();
    if (token.kind == TokenKind::kWord && is_integer(token.text)) {
      TESSIQ_ASSIGN_OR_RETURN(const int64_t value, parse_integer(tokens_.take()));
      return SizeExpr::of_constant(value);
    }
    if (token.kind == TokenKind::kWord && is_symbol_name(token.text)) {
      return SizeExpr::of_symbol(tokens_.take().text);
    }
    return tokens_.expected("an integer, a symbol, min, max or '('");
  }

  Result<SizeExpr> call() {
    const Kind kind = tokens_.take().text == "min" ? Kind::kMin : Kind::kMax;
    TESSIQ_RETURN_IF_ERROR(tokens_.expect("("));
    std::vector<SizeExpr> operands;
    do {
      TESSIQ_ASSIGN_OR_RETURN(SizeExpr operand, sum());
      operands.push_back(std::move(operand));
    } while (tokens_.take_if(","));
    if (operands.size() < 2) {
      return tokens_.expected("','");
    }
    TESSIQ_RETURN_IF_ERROR(tokens_.expect(")"));
    return SizeExpr::of(kind, std::move(operands));
  }

  Error too_deep() const {
    return error_at(tokens_.peek(), "size expression is nested deeper than " + std::to_string(kMaxSizeExprDepth));
  }

  TokenStream& tokens_;
  int depth_ = 0;
};

}  // namespace

Result<SizeExpr> parse_size_expr(TokenStream& tokens) { return SizeExprParser(tokens).sum(); }

Result<Extent> parse_extent(TokenStream& tokens) {
  const Token& token = tokens.peek();
  if (token.is("?")) {
    tokens.take();
    return Extent::unknown();
  }
  if (token.kind == TokenKind::kWord && is_integer(token.text)) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t value, parse_integer(tokens.take()));
    return Extent(value);
  }
  if (token.kind == TokenKind::kWord && is_symbol_name(token.text)) {
    return Extent::symbol(tokens.take().text);
  }
  return tokens.expected("an integer, a symbol or '?'");
}

}  // namespace tessiq::ir
