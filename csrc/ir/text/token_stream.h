// One token of look-ahead over the lexer, and the one way a parse error is worded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/text/lexer.h"
#include "support/result.h"

namespace tessiq::ir {

class TokenStream {
 public:
  explicit TokenStream(std::string_view source) : lexer_(source), token_(lexer_.next()) {}

  const Token& peek() const { return token_; }
  Token take();
  // Takes the punctuation where it is next.
  bool take_if(std::string_view punctuation);
  bool at_word(std::string_view word) const { return token_.kind == TokenKind::kWord && token_.text == word; }

  Result<void> expect(std::string_view punctuation);
  // "line:column: expected <what>, found <the next token>"; a token that is none speaks for itself.
  Error expected(std::string_view what) const;

 private:
  Lexer lexer_;
  Token token_;
};

// "line:column: message".
Error error_at(const Token& token, std::string_view message);

// A word that is digits with an optional sign; an error where it does not fit in 64 bits.
bool is_integer(std::string_view word);
Result<int64_t> parse_integer(const Token& token);

}  // namespace tessiq::ir
