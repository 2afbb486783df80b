// Generated loops of the reference device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/loaded_kernel.h"

namespace tessiq::hostcc {

// One kernel for each description, in order, with one run of the compiler for all that no cache holds. kUnsupported
// where there is no compiler.
Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(std::span<const emit::LoopKernel> kernels);

}  // namespace tessiq::hostcc
