#include "codegen/emit/spelling.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <variant>

#include "ir/name.h"

namespace tessiq::emit {

using ir::ElementType;

ElementType value_type(ElementType element) {
  return element == ElementType::kFloat16 || element == ElementType::kBFloat16 ? ElementType::kFloat32 : element;
}

std::string_view value_type_name(ElementType element) {
  switch (element) {
    case ElementType::kBool:
      return "bool";
    case ElementType::kUInt8:
      return "u8";
    case ElementType::kInt8:
      return "i8";
    case ElementType::kInt16:
      return "i16";
    case ElementType::kInt32:
      return "i32";
    case ElementType::kInt64:
      return "i64";
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
    case ElementType::kFloat32:
      return "float";
    case ElementType::kFloat64:
      return "double";
  }
  return "float";
}

std::string_view storage_type_name(ElementType element) {
  switch (element) {
    case ElementType::kBool:
      return "u8";
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
      return "u16";
    default:
      return value_type_name(element);
  }
}

std::string load_conversion(const std::string& text, ElementType element) {
  switch (element) {
    case ElementType::kBool:
      return "(" + text + " != 0)";
    case ElementType::kFloat16:
      return "from_f16(" + text + ")";
    case ElementType::kBFloat16:
      return "from_bf16(" + text + ")";
    default:
      return text;
  }
}

std::string store_conversion(const std::string& text, ElementType element) {
  switch (element) {
    case ElementType::kBool:
      return "u8(" + text + ")";
    case ElementType::kFloat16:
      return "to_f16(" + text + ")";
    case ElementType::kBFloat16:
      return "to_bf16(" + text + ")";
    default:
      return text;
  }
}

std::string value_conversion(const std::string& text, ElementType from, ElementType to) {
  from = value_type(from);
  to = value_type(to);
  if (from == to) {
    return text;
  }
  const std::string target(value_type_name(to));
  if (to == ElementType::kBool) {
    return "(" + text + " != 0)";
  }
  const bool narrow = to == ElementType::kUInt8 || to == ElementType::kInt8 || to == ElementType::kInt16;
  if (narrow && ir::is_floating(from)) {
    return target + "(i64(" + text + "))";
  }
  return target + "(" + text + ")";
}

namespace {

std::string double_text(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // Without a point it would be an integer, and -0 would lose its sign.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string integer_text(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) {
    return "-9223372036854775807 - 1";  // the number after the minus would not fit a literal
  }
  return std::to_string(value);
}

// Two's complement of the type's width, as PyTorch's conversion of a number to an element is.
int64_t wrapped(int64_t value, ElementType type) {
  switch (type) {
    case ElementType::kUInt8:
      return static_cast<uint8_t>(value);
    case ElementType::kInt8:
      return static_cast<int8_t>(value);
    case ElementType::kInt16:
      return static_cast<int16_t>(value);
    case ElementType::kInt32:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

int64_t as_integer(const LoopConstant& constant) {
  if (const auto* number = std::get_if<double>(&constant.value)) {
    constexpr double kLimit = 9223372036854775808.0;
    return *number >= -kLimit && *number < kLimit ? static_cast<int64_t>(*number) : std::numeric_limits<int64_t>::min();
  }
  if (const auto* flag = std::get_if<bool>(&constant.value)) {
    return *flag ? 1 : 0;
  }
  return std::get<int64_t>(constant.value);
}

std::string floating_text(const LoopConstant& constant, const std::string& type) {
  const auto* number = std::get_if<double>(&constant.value);
  if (number == nullptr) {
    return type + "(" + integer_text(as_integer(constant)) + ")";
  }
  if (std::isnan(*number)) {
    return "not_a_number<" + type + ">()";
  }
  if (std::isinf(*number)) {
    return (*number < 0 ? "(-infinity<" : "infinity<") + type + (*number < 0 ? ">())" : ">()");
  }
  const bool overflows = type == "float" && std::isinf(static_cast<float>(*number));
  if (overflows) {
    return *number < 0 ? "(-infinity<float>())" : "infinity<float>()";
  }
  return type + "(" + double_text(*number) + ")";
}

}  // namespace

std::string constant_text(const LoopConstant& constant, ElementType type) {
  const ElementType value = value_type(type);
  const std::string name(value_type_name(value));
  if (value == ElementType::kBool) {
    const auto* number = std::get_if<double>(&constant.value);
    const bool truth = number != nullptr ? *number != 0 : as_integer(constant) != 0;
    return truth ? "true" : "false";
  }
  if (ir::is_floating(value)) {
    return floating_text(constant, name);
  }
  return name + "(" + integer_text(wrapped(as_integer(constant), value)) + ")";
}

const std::string& Identifiers::of(const std::string& value) {
  const auto found = given_.find(value);
  if (found != given_.end()) {
    return found->second;
  }
  std::string base = "v_";
  for (const char c : value) {
    base += ir::is_letter(c) || ir::is_digit(c) ? c : '_';
  }
  std::string name = base;
  for (int suffix = 1; !taken_.insert(name).second; ++suffix) {
    name = base + "_" + std::to_string(suffix);
  }
  return given_.emplace(value, name).first->second;
}

}  // namespace tessiq::emit
