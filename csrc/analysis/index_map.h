// Loops whose elements depend on their position or on elements elsewhere: arange, cat, flip, pad, slice_scatter; and
// those that read where an operand says: embedding, index_select, gather, index (lookups.h).
//
// Each of the first is an expression over operands read through windows, so that what produces an operand and what
// reads the result can be computed in the same loop.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/element_step.h"
#include "analysis/loop_access.h"

namespace tessiq::analysis {

// Requires op.index_map and one result. kUnsupported where an argument is not understood.
Result<ElementStep> index_map_step(const ir::Node& node, const optable::OpInfo& op);

// How the loop over the node's result reads an operand of its step, windows left out: strides along the result's axes,
// negative where the axis is reversed. kUnsupported as loop_access.
Result<LoopAccess> operand_access(const ir::Node& node, const StepOperand& operand);

// What the steps of index maps have in common. Their expressions have the result's element type, which every value is
// converted to.
ElementStep copied_step(const ir::Node& node, std::string expression, std::vector<StepArgument> arguments,
                        uint32_t bool_arguments);
// Nothing the call said may be dropped: kUnsupported where the node has an attribute that is not among `keys`, those
// that the caller reads or that change nothing.
Result<void> check_keys(const ir::Node& node, std::initializer_list<std::string_view> keys);
int operand_index(const ir::Node& node, const ir::Value* value);

}  // namespace tessiq::analysis
