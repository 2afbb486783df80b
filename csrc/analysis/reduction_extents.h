// A reduction as three numbers, whatever its rank.
#pragma once

#include <cstdint>
#include <span>

#include "ir/size_expr.h"
#include "ir/type.h"
#include "support/result.h"

namespace tessiq::analysis {

// An input of outer by reduce by inner elements, of which the middle axis goes.
struct ReductionExtents {
  ir::SizeExpr outer;
  ir::SizeExpr reduce;
  ir::SizeExpr inner;  // the distance between two elements that are combined, in a packed input
};

// `axes` may be negative, counted from the end; none means all. Axes of extent 1 stand nowhere, so reducing them or not
// changes nothing. kInvalidArgument on an axis that does not exist or is named twice; kUnsupported where the reduced
// axes are not neighbours, or an extent is not known.
Result<ReductionExtents> reduction_extents(const ir::Shape& shape, std::span<const int64_t> axes);

}  // namespace tessiq::analysis
