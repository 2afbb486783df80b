// What each file of this folder adds to the module tessiq._C.
#pragma once

#include <pybind11/pybind11.h>

namespace tessiq::bindings {

void bind_exceptions(pybind11::module_& module);
void bind_logging(pybind11::module_& module);
void bind_device(pybind11::module_& module);
void bind_profiling(pybind11::module_& module);
void bind_compiler(pybind11::module_& module);
void bind_report(pybind11::module_& module);
void bind_installation(pybind11::module_& module);
void bind_custom(pybind11::module_& module);

}  // namespace tessiq::bindings
