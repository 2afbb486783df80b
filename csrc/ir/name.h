// Which spellings may stand as a name, so that everything a graph holds can be printed and read back.
#pragma once

#include <string_view>

namespace tessiq::ir {

// ASCII only and independent of the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_name_character(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; }

// A value, an operation, an attribute key or a graph: letters, digits, `_` and `.`, at least one.
bool is_name(std::string_view text);
// A symbol: a letter or `_`, then letters, digits and `_`; none of the words that mean a value where a symbol may
// stand.
bool is_symbol_name(std::string_view text);
// Digits only.
bool is_number(std::string_view text);

}  // namespace tessiq::ir
