// Loops whose elements depend on their position or on elements elsewhere: arange, cat, flip, pad, slice_scatter.
//
// Each is an expression over operands read through windows, so that what produces an operand and what reads the result
// can be computed in the same loop.
#pragma once

#include "analysis/element_step.h"
#include "analysis/loop_access.h"

namespace tessiq::analysis {

// Requires op.index_map and one result. kUnsupported where an argument is not understood.
Result<ElementStep> index_map_step(const ir::Node& node, const optable::OpInfo& op);

// How the loop over the node's result reads an operand of its step, windows left out: strides along the result's axes,
// negative where the axis is reversed. kUnsupported as loop_access.
Result<LoopAccess> operand_access(const ir::Node& node, const StepOperand& operand);

}  // namespace tessiq::analysis
