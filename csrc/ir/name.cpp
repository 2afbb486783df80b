// The spellings of name.h, checked one character at a time.
#include "ir/name.h"

#include <algorithm>
#include <array>

namespace tessiq::ir {
namespace {

// Words an attribute or a size expression reads as something else.
constexpr std::array<std::string_view, 7> kReserved = {"none", "true", "false", "inf", "nan", "min", "max"};

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

bool is_symbol_name(std::string_view text) {
  if (!is_name(text) || is_digit(text.front()) || text.find('.') != std::string_view::npos) {
    return false;
  }
  return std::find(kReserved.begin(), kReserved.end(), text) == kReserved.end();
}

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

}  // namespace tessiq::ir
