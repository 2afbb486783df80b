// What the expression of an operation may say, and the row of the operation table that it becomes.
#pragma once

#include "pytorch/custom/operation.h"

namespace tessiq::custom {

// Fills `operation.row`. kInvalidArgument: a schema that no loop computes, a bare floating-point constant, a name that
// is no argument, or text outside the language of csrc/optable/intrinsics.md.
Result<void> apply_expression(Operation& operation);

}  // namespace tessiq::custom
