// Look-ahead, wording of errors, integers.
#include "ir/text/token_stream.h"

#include <charconv>
#include <utility>

#include "ir/name.h"

namespace tessiq::ir {

Token TokenStream::take() { return std::exchange(token_, lexer_.next()); }

bool TokenStream::take_if(std::string_view punctuation) {
  if (!token_.is(punctuation)) {
    return false;
  }
  take();
  return true;
}

Result<void> TokenStream::expect(std::string_view punctuation) {
  if (!take_if(punctuation)) {
    return expected("'" + std::string(punctuation) + "'");
  }
  return {};
}

Error TokenStream::expected(std::string_view what) const {
  if (token_.kind == TokenKind::kInvalid) {
    return error_at(token_, token_.text);
  }
  return error_at(token_, "expected " + std::string(what) + ", found " + token_.describe());
}

Error error_at(const Token& token, std::string_view message) {
  return invalid_argument(std::to_string(token.line) + ":" + std::to_string(token.column) + ": " +
                          std::string(message));
}

bool is_integer(std::string_view word) { return is_number(word.starts_with('-') ? word.substr(1) : word); }

Result<int64_t> parse_integer(const Token& token) {
  int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return error_at(token, "expected an integer of 64 bits, found " + token.describe());
  }
  return value;
}

}  // namespace tessiq::ir
