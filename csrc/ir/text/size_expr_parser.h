// The part of the parser that reads sizes: extents, and expressions over symbols.
#pragma once

#include "ir/size_expr.h"
#include "ir/text/token_stream.h"

namespace tessiq::ir {

// sum     = product { "+" product }
// product = atom { ("*" | "//" | "%") atom }          left to right; a run of "*" is one product
// atom    = integer | symbol | "(" sum ")" | ("min" | "max") "(" sum "," sum { "," sum } ")"
Result<SizeExpr> parse_size_expr(TokenStream& tokens);

// integer | symbol | "?"
Result<Extent> parse_extent(TokenStream& tokens);

}  // namespace tessiq::ir
