// A loop that reads across memory what it writes along it: through tiles in shared memory, so that both sides move
// whole lines. Private to emit/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/loop_kernel.h"

namespace tessiq::emit {

struct TiledLoop {
  std::string function;                 // tiles<I, W>(pointers..., sizes...)
  std::vector<KernelVariant> variants;  // widest first
};

// Nothing where no input lies that way, or a tile would be mostly empty.
Result<std::optional<TiledLoop>> tiled_loop(const LoopKernel& kernel);

}  // namespace tessiq::emit
