// An order of a graph's nodes in which what a kernel computes stands in one piece.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/unit_graph.h"
#include "ir/graph.h"

namespace tessiq::analysis {

// Moves nodes so that no reader outside a unit stands before the unit's last node; nodes whose effects are not known to
// be none keep their order, and nothing passes one that writes. Leaves the graph as it is where it already is so.
// False, with the graph untouched, where there is no such order.
bool order_for_launches(ir::Graph& graph, const UnitGraph& units);

}  // namespace tessiq::analysis
