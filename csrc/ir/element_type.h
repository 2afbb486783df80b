// The element types the compiler carries. A graph that uses any other type is not imported and runs uncompiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessiq::ir {

enum class ElementType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

inline constexpr int kElementTypeCount = 10;

// "bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64".
std::string_view element_type_name(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);
int element_size(ElementType type);
bool is_floating(ElementType type);
// True for bool too.
inline bool is_integral(ElementType type) { return !is_floating(type); }

}  // namespace tessiq::ir
