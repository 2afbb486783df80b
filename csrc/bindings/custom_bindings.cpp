// Custom operations as python/tessiq/operations.py uses them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/bindings.h"
#include "bindings/exceptions.h"
#include "pytorch/custom/kernel_launch.h"
#include "pytorch/custom/operation.h"
#include "pytorch/executor/registers.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

std::vector<std::string> names_of(const custom::Operation& operation) {
  std::vector<std::string> names;
  for (const at::ScalarType type : operation.definition.element_types) {
    for (int i = 0; i < ir::kElementTypeCount; ++i) {
      const auto element = static_cast<ir::ElementType>(i);
      if (pytorch::scalar_type_of(element) == type) {
        names.emplace_back(ir::element_type_name(element));
      }
    }
  }
  return names;
}

py::list operations() {
  py::list list;
  for (const custom::Operation* operation : custom::operations()) {
    py::dict entry;
    entry["name"] = operation->name;
    entry["schema"] = c10::toString(operation->schema);
    entry["kind"] = std::string(custom::kind_name(operation->kind));
    entry["element_types"] = names_of(*operation);
    entry["replaces"] = operation->definition.replaces;
    entry["replaces_in_graphs"] = operation->replaces_in_graphs();
    entry["has_pattern"] = operation->pattern.has_value();
    entry["kernel_calls"] = operation->kernel_calls.load();
    entry["fallbacks"] = operation->fallbacks.load();
    list.append(entry);
  }
  return list;
}

}  // namespace

void bind_custom(py::module_& module) {
  module.def("register_operations", [] { value_or_throw(custom::add_operations(custom::records())); });
  module.def(
      "load_operations",
      [](const std::string& path) {
        value_or_throw(custom::add_operations(*value_or_throw(custom::load_library(path))));
      },
      py::arg("path"));
  module.def(
      "refused_operations",
      [](const std::string& path) { return custom::refusals_of(*value_or_throw(custom::load_library(path))); },
      py::arg("path"));
  module.def("operations", &operations);
  module.def("check_operations", [] {
    const py::gil_scoped_release released;
    return value_or_throw(custom::compile_every_kernel());
  });
}

}  // namespace tessiq::bindings
