// Generated loops of NVIDIA GPUs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/loaded_kernel.h"
#include "runtime/device.h"

namespace tessiq::nvrtc {

// One kernel for each description, in order, loaded on `device`. kUnsupported in a build without CUDA.
Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(Device& device,
                                                                          std::span<const emit::LoopKernel> kernels);

}  // namespace tessiq::nvrtc
