// What the driver's state means for a process that forks: CUDA started in a parent does not work in its children.
//
// Decides that every call in such a child is refused with a sentence that says so, where the driver itself would answer
// "initialization error", hang or crash.
#pragma once

#include "support/result.h"

namespace tessiq {

// From here on, children forked by this process cannot use CUDA.
void note_cuda_started();
// True in a child of a process that had started CUDA.
bool in_forked_child();
// kExternal in such a child.
Result<void> refuse_in_forked_child();

}  // namespace tessiq
