// One token at a time, by the first byte.
#include "ir/text/lexer.h"

#include <algorithm>

#include "ir/name.h"

namespace tessiq::ir {
namespace {

constexpr size_t kDescribedLength = 40;

int hex_digit(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string shown_byte(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) {
    return std::string("'") + c + "'";
  }
  return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
}

}  // namespace

std::string Token::describe() const {
  const std::string shown = text.size() <= kDescribedLength ? text : text.substr(0, kDescribedLength) + "...";
  switch (kind) {
    case TokenKind::kValueName:
      return "%" + shown;
    case TokenKind::kGraphName:
      return "@" + shown;
    case TokenKind::kString:
      return "a string";
    case TokenKind::kEnd:
      return "the end of the text";
    default:
      return "'" + shown + "'";
  }
}

void Lexer::advance(size_t count) {
  position_ += count;
  column_ += static_cast<int>(count);
}

void Lexer::skip_blanks() {
  for (;;) {
    const char c = peek();
    if (c == '\n') {
      position_ += 1;
      line_ += 1;
      column_ = 1;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      advance();
    } else if (c == '#') {
      const size_t end = source_.find('\n', position_);
      advance((end == std::string_view::npos ? source_.size() : end) - position_);
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.line = line_;
  token.column = column_;
  if (at_end()) {
    return token;
  }
  const char c = peek();
  if (c == '"') {
    lex_string(token);
  } else if (c == '%' && is_name_character(peek(1))) {
    lex_name(token, TokenKind::kValueName);
  } else if (c == '@' && is_name_character(peek(1))) {
    lex_name(token, TokenKind::kGraphName);
  } else if (is_name_character(c) || (c == '-' && is_name_character(peek(1)))) {
    lex_word(token);
  } else {
    lex_punctuation(token);
  }
  return token;
}

void Lexer::lex_name(Token& token, TokenKind kind) {
  advance();
  const size_t start = position_;
  while (is_name_character(peek())) {
    advance();
  }
  token.kind = kind;
  token.text = source_.substr(start, position_ - start);
}

void Lexer::lex_word(Token& token) {
  const size_t start = position_;
  const bool is_numeric = is_digit(peek()) || (peek() == '-' && is_digit(peek(1)));
  advance();
  while (is_name_character(peek())) {
    const bool is_exponent = is_numeric && (peek() == 'e' || peek() == 'E');
    advance();
    if (is_exponent && (peek() == '+' || peek() == '-') && is_digit(peek(1))) {
      advance();
    }
  }
  token.kind = TokenKind::kWord;
  token.text = source_.substr(start, position_ - start);
}

bool Lexer::lex_escape(std::string& text) {
  const char c = peek();
  if (c == 'n' || c == '"' || c == '\\') {
    text += c == 'n' ? '\n' : c;
    advance();
    return true;
  }
  const int high = hex_digit(peek(1));
  const int low = hex_digit(peek(2));
  if (c != 'x' || high < 0 || low < 0) {
    return false;
  }
  text += static_cast<char>(high * 16 + low);
  advance(3);
  return true;
}

void Lexer::lex_string(Token& token) {
  token.kind = TokenKind::kString;
  advance();
  while (!at_end() && peek() != '\n') {
    const char c = peek();
    advance();
    if (c == '"') {
      return;
    }
    if (c != '\\') {
      token.text += c;
    } else if (!lex_escape(token.text)) {
      token.kind = TokenKind::kInvalid;
      token.text = "expected an escape, one of \\\" \\\\ \\n \\xhh, in the string that starts here";
      return;
    }
  }
  token.kind = TokenKind::kInvalid;
  token.text = "expected a closing quote on the line of the string that starts here";
}

void Lexer::lex_punctuation(Token& token) {
  constexpr std::string_view kSingle = "(){}[],:=+*?%";
  const char c = peek();
  if (c == '/' && peek(1) == '/') {
    token.kind = TokenKind::kPunctuation;
    token.text = "//";
    advance(2);
    return;
  }
  if (kSingle.find(c) != std::string_view::npos) {
    token.kind = TokenKind::kPunctuation;
    token.text = c;
  } else {
    token.kind = TokenKind::kInvalid;
    token.text = "expected a name, a number or punctuation, found " + shown_byte(c);
  }
  advance();
}

}  // namespace tessiq::ir
