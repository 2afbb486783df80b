// The module tessiq._C. Loading it registers the device with PyTorch: the guard, the hooks, the allocators and the
// kernels are global objects of csrc/pytorch, whose constructors register.
#include <pybind11/pybind11.h>

#include "bindings/bindings.h"

PYBIND11_MODULE(_C, module) {
  module.attr("__version__") = TESSIQ_VERSION;
  module.attr("built_for_torch") = TESSIQ_TORCH_VERSION;
  tessiq::bindings::bind_exceptions(module);
  tessiq::bindings::bind_logging(module);
  tessiq::bindings::bind_device(module);
  tessiq::bindings::bind_profiling(module);
  tessiq::bindings::bind_compiler(module);
  tessiq::bindings::bind_report(module);
  tessiq::bindings::bind_installation(module);
  tessiq::bindings::bind_custom(module);
}
