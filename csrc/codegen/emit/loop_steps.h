// The step of one node: what the descriptions of loops and of rows have in common. Private to emit/.
#pragma once

#include <functional>

#include "analysis/element_step.h"
#include "codegen/emit/loop_kernel.h"

namespace tessiq::emit {

// A size as an argument: a number where it is one.
LoopArgument size_argument(const ir::SizeExpr& size);
// Any argument but an operand, a window and a position, whose meaning is the description's.
LoopArgument number_argument(const analysis::StepArgument& argument);

// What a step reads of a value that is inlined: its number.
Result<LoopArgument> inlined_argument(const ir::Value& value);

// kInternal for a node that was not claimed as a loop. `argument_of` is asked for every argument, in order.
using ArgumentOf = std::function<Result<LoopArgument>(const analysis::StepArgument&)>;
Result<LoopStep> loop_step(const ir::Node& node, const ArgumentOf& argument_of);

// The description of a group with a reduction.
Result<LoopKernel> describe_rows(const ir::Graph& graph, std::vector<const ir::Node*> members);

}  // namespace tessiq::emit
