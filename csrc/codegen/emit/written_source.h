// The text that a kernel written by hand is compiled from: the definitions it may count on, then the text itself.
//
// Decides what a kernel text may name without an include:
//   scalar_t, accumulate_t   the type of its elements, and the one to compute in: float, or double for double; scalar_t
//                            itself for integers
//   widen, narrow            from one to the other
//   over_block               one value of the values that the threads of a block have
//   vector_t, kVectorWidth   what one load of 16 bytes brings
//   over_row, map_row        a walk over a row by a block, in vectors where the row allows
//   held_row                 a row in the registers of a block
//   staged_row               a row in its shared memory
// Those from over_block on are for floating types, and are there where the text names one of them.
#pragma once

#include <string>
#include <string_view>

#include "ir/element_type.h"

namespace tessiq::emit {

// Lines of the compiler's messages count from the start of `text`, in a file called `<name>.cu`.
std::string written_source(std::string_view name, std::string_view text, ir::ElementType element);

}  // namespace tessiq::emit
