// The invariants every pass may assume. A pass never re-checks them.
#pragma once

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::ir {

// kInternal naming the first broken invariant and its likely cause:
//  - every operand is defined before its node in list order, in this graph;
//  - a value's use list names exactly the operand slots that read it;
//  - every result points back at its node; no two values share a name; graph results are defined here;
//  - strides, where present, are one an axis and not those of a packed tensor;
//  - every symbol in a type, a list or a definition is free or defined once, and definitions form no cycle.
Result<void> verify(const Graph& graph);

}  // namespace tessiq::ir
