// What a shape rule is.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/arguments.h"
#include "support/result.h"

namespace tessiq::analysis {

// Nothing where an argument is not one the rule knows.
using ShapeResult = Result<std::optional<ir::Shape>>;
using ShapeRule = ShapeResult (*)(const ir::Node& node, const Arguments& arguments);

struct NamedShapeRule {
  std::string_view name;  // the table's short spelling
  ShapeRule rule;
};

inline ShapeResult no_shape() { return std::optional<ir::Shape>(); }

}  // namespace tessiq::analysis
