// The one place that knows which target a device's loops are compiled by.
#include "codegen/hostcc/compile_loops.h"
#include "codegen/loaded_kernel.h"
#include "codegen/nvrtc/compile_loops.h"

namespace tessiq::codegen {

Result<std::vector<std::shared_ptr<LoadedKernel>>> compile_loops(Device& device,
                                                                 std::span<const emit::LoopKernel> kernels) {
  switch (device.kind()) {
    case DeviceKind::kHost:
      return hostcc::compile_loops(kernels);
    case DeviceKind::kCuda:
      return nvrtc::compile_loops(device, kernels);
    case DeviceKind::kNull:
      break;
  }
  return unsupported("this device has no compiler for generated loops");
}

}  // namespace tessiq::codegen
