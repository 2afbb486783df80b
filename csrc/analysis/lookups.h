// Loops that read an operand where another one says: embedding, index_select, gather, index.
//
// Decides which axis of the operand is looked up and how the positions are read. What is read and the positions have to
// lie in memory: neither is computed in the loop. That a position is one the axis has is known in the call alone, and
// what runs the loop checks it (docs/design/0090).
#pragma once

#include "analysis/element_step.h"
#include "analysis/loop_access.h"

namespace tessiq::analysis {

// Requires op.looks_up() and one result. kUnsupported where an argument is not understood.
Result<ElementStep> lookup_step(const ir::Node& node, const optable::OpInfo& op);

// What operand_access says of an operand with lookups: strides along the result's axes, 0 along those that only choose
// positions. kUnsupported where the result is not known to stay inside the axes that are read in place.
Result<LoopAccess> looked_up_access(const ir::Node& node, const StepOperand& operand);

// How the loop over the node's result reads the positions.
Result<LoopAccess> position_access(const ir::Node& node, const Lookup& lookup);

}  // namespace tessiq::analysis
