// Sizes with every defined symbol replaced by its expression, so that s1 = s0 * 32 is seen to be 32 times s0.
#pragma once

#include "ir/graph.h"
#include "ir/size_expr.h"

namespace tessiq::analysis {

// Over the graph's free symbols, normal. Null for no definitions: only normal.
ir::SizeExpr expand(const ir::SizeExpr& expression, const ir::Graph* definitions);

}  // namespace tessiq::analysis
