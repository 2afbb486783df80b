// Order, equality and text of attributes.
#include "ir/attribute.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "ir/name.h"

namespace tessiq::ir {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

bool same_bits(const FloatList& a, const FloatList& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

std::string_view without_leading_zeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : digits.substr(first);
}

bool number_less(std::string_view a, std::string_view b) {
  const std::string_view x = without_leading_zeros(a);
  const std::string_view y = without_leading_zeros(b);
  if (x.size() != y.size()) {
    return x.size() < y.size();
  }
  // "01" and "1" are different keys of equal value; the shorter one first keeps the order strict.
  return x == y ? a.size() < b.size() : x < y;
}

std::string float_to_string(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

template <typename List, typename Text>
std::string bracketed(const List& list, Text text) {
  std::string result = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    result += (i == 0 ? "" : ", ") + text(list[i]);
  }
  return result + "]";
}

struct Printer {
  std::string operator()(None) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return float_to_string(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Extent& value) const { return value.to_string(); }
  std::string operator()(const SizeList& value) const {
    return bracketed(value, [](const Extent& extent) { return extent.to_string(); });
  }
  std::string operator()(const FloatList& value) const { return bracketed(value, float_to_string); }
};

double canonical(double value) { return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value; }

}  // namespace

bool AttributeKeyLess::operator()(std::string_view a, std::string_view b) const {
  const bool a_is_number = is_number(a);
  const bool b_is_number = is_number(b);
  if (a_is_number != b_is_number) {
    return a_is_number;
  }
  return a_is_number ? number_less(a, b) : a < b;
}

bool attributes_equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) {
    return false;
  }
  if (const double* value = std::get_if<double>(&a)) {
    return same_bits(*value, std::get<double>(b));
  }
  if (const FloatList* list = std::get_if<FloatList>(&a)) {
    return same_bits(*list, std::get<FloatList>(b));
  }
  return a == b;
}

bool attribute_maps_equal(const AttributeMap& a, const AttributeMap& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !attributes_equal(i->second, j->second)) {
      return false;
    }
  }
  return true;
}

std::string attribute_to_string(const Attribute& attribute) { return std::visit(Printer{}, attribute); }

Attribute normalized(Attribute attribute) {
  if (const Extent* extent = std::get_if<Extent>(&attribute); extent != nullptr && extent->is_known()) {
    return extent->known();
  }
  if (double* value = std::get_if<double>(&attribute)) {
    *value = canonical(*value);
  }
  if (FloatList* list = std::get_if<FloatList>(&attribute)) {
    if (list->empty()) {
      return SizeList{};
    }
    for (double& value : *list) {
      value = canonical(value);
    }
  }
  return attribute;
}

}  // namespace tessiq::ir
