// Normal forms of size expressions, so that equal sizes are seen to be equal.
#pragma once

#include "ir/size_expr.h"
#include "ir/type.h"

namespace tessiq::analysis {

// A sum of products with constants folded and terms in a fixed order; floor division, remainder, min and max are kept
// as atoms over normal operands. Two expressions with the same normal form are equal for every call.
ir::SizeExpr normalize(const ir::SizeExpr& expression);
bool provably_equal(const ir::SizeExpr& a, const ir::SizeExpr& b);

ir::SizeExpr sum(const ir::SizeExpr& a, const ir::SizeExpr& b);      // normal
ir::SizeExpr product(const ir::SizeExpr& a, const ir::SizeExpr& b);  // normal
// kUnsupported for an unknown extent.
Result<ir::SizeExpr> to_expr(const ir::Extent& extent);
Result<ir::SizeExpr> element_count(const ir::Shape& shape);
// Strides of a type, one expression an axis: its layout, or what packing gives.
Result<std::vector<ir::SizeExpr>> stride_exprs(const ir::TensorType& type);

}  // namespace tessiq::analysis
