// The form of an operation that writes an argument which graphs can hold: it returns what the argument becomes.
//
// PyTorch makes graphs functional before a compiler sees them, and knows how to for its own operators only.
#pragma once

#include <torch/library.h>

#include "pytorch/custom/operation.h"

namespace tessiq::custom {

// Defines tessiq::<name>.functional in `library`, and how tracing turns calls of the operation into calls of it.
void define_functional_form(Operation& operation, torch::Library& library);

}  // namespace tessiq::custom
