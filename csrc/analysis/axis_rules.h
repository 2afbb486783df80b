// Shape rules of operations that name axes: reductions, movement, convolution.
#pragma once

#include <string_view>

#include "analysis/shape_rule.h"

namespace tessiq::analysis {

// Null where there is none. `name` is the table's short spelling.
ShapeRule find_axis_rule(std::string_view name);

}  // namespace tessiq::analysis
