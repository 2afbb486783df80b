// Text cut into tokens, each with its place.
//
// Decides what a word, a value name and a string are. Leaves to the parser what a word means where it stands: `1` may
// be an attribute's key or its value, `s0` a symbol or an operation.
#pragma once

#include <string>
#include <string_view>

namespace tessiq::ir {

enum class TokenKind {
  kWord,       // letters, digits, `_`, `.`; a number keeps its sign: s0, aten.add.Tensor, -1, 1.5e-03, -inf
  kValueName,  // % and a name
  kGraphName,  // @ and a name
  kString,     // "text"; the token's text is what it means, escapes resolved
  kPunctuation,
  kEnd,
  kInvalid,  // the token's text is the message
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // without the sigil of a name
  int line = 1;      // from 1
  int column = 1;    // from 1, in bytes

  bool is(std::string_view punctuation) const { return kind == TokenKind::kPunctuation && text == punctuation; }
  // For a message: "%x", "end of input"; long text is cut.
  std::string describe() const;
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Token next();

 private:
  char peek(size_t ahead = 0) const { return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0'; }
  bool at_end() const { return position_ >= source_.size(); }
  void advance(size_t count = 1);
  void skip_blanks();
  void lex_string(Token& token);
  void lex_word(Token& token);
  void lex_name(Token& token, TokenKind kind);
  void lex_punctuation(Token& token);
  // Appends the byte an escape stands for; false on one that does not exist.
  bool lex_escape(std::string& text);

  std::string_view source_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace tessiq::ir
