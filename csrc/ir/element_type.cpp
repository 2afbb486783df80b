// The one table of element types: spelling, size, kind.
#include "ir/element_type.h"

#include <array>

namespace tessiq::ir {
namespace {

struct Row {
  std::string_view name;
  int size;
  bool floating;
};

// In the order of the enumeration.
constexpr std::array<Row, kElementTypeCount> kRows = {{
    {"bool", 1, false},
    {"u8", 1, false},
    {"i8", 1, false},
    {"i16", 2, false},
    {"i32", 4, false},
    {"i64", 8, false},
    {"f16", 2, true},
    {"bf16", 2, true},
    {"f32", 4, true},
    {"f64", 8, true},
}};

const Row& row(ElementType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view element_type_name(ElementType type) { return row(type).name; }

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (int i = 0; i < kElementTypeCount; ++i) {
    if (kRows[static_cast<size_t>(i)].name == name) {
      return static_cast<ElementType>(i);
    }
  }
  return std::nullopt;
}

int element_size(ElementType type) { return row(type).size; }

bool is_floating(ElementType type) { return row(type).floating; }

}  // namespace tessiq::ir
