// Which tensors the kernel of a custom operation takes. Claims, rewrites and replacements ask here.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "optable/lookup.h"
#include "support/result.h"

namespace tessiq::analysis {

// One entry an argument of the operation; null for one that is no tensor, or None.
using TensorArguments = std::vector<const ir::Value*>;

// kUnsupported, naming the value, where an element type is not declared: the first tensor's has to be one of
// `op.element_types` and the others' the same, but for arguments with a type of their own. An operation that is an
// expression takes any mixture that it computes in a declared type.
Result<void> check_argument_types(const optable::OpInfo& op, const TensorArguments& arguments);

// That of the first tensor without a type of its own: it decides which kernel a call runs.
std::optional<ir::ElementType> element_of_call(const optable::OpInfo& op, const TensorArguments& arguments);

}  // namespace tessiq::analysis
