// The emitters of reductions, which emit_cuda and emit_host hand such kernels to. Private to emit/.
#pragma once

#include "codegen/emit/loop_kernel.h"

namespace tessiq::emit {

Result<KernelSource> emit_cuda_rows(const LoopKernel& kernel);
Result<KernelSource> emit_host_rows(const LoopKernel& kernel);

}  // namespace tessiq::emit
