// Lines of the core's log, handed to the Python loggers tessiq.<topic>.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "bindings/bindings.h"
#include "support/log.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

// Python's numbers, as its logging module defines them.
int python_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 10;
    case LogLevel::kInfo:
      return 20;
    case LogLevel::kWarning:
      return 30;
    case LogLevel::kError:
      break;
  }
  return 40;
}

LogLevel level_from_python(int level) {
  if (level <= 10) {
    return LogLevel::kDebug;
  }
  if (level <= 20) {
    return LogLevel::kInfo;
  }
  return level <= 30 ? LogLevel::kWarning : LogLevel::kError;
}

bool python_can_run() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0;
#else
  return Py_IsInitialized() != 0 && _Py_IsFinalizing() == 0;
#endif
}

}  // namespace

void bind_logging(py::module_& module) {
  module.def(
      "set_log_sink",
      [](py::function handler) {
        // The handler outlives the interpreter on purpose: nobody can say when the last line is logged.
        auto* kept = new py::function(std::move(handler));
        set_log_sink([kept](LogLevel level, std::string_view topic, std::string_view message) {
          if (!python_can_run()) {
            return;
          }
          const py::gil_scoped_acquire gil;
          // A line may be logged while an exception is on its way, and must not disturb it.
          const py::error_scope pending;
          try {
            (*kept)(python_level(level), std::string(topic), std::string(message));
          } catch (py::error_already_set& error) {
            error.discard_as_unraisable("tessiq log handler");
          }
        });
      },
      py::arg("handler"));
  module.def("set_log_level", [](int level) { set_log_level(level_from_python(level)); }, py::arg("level"));
}

}  // namespace tessiq::bindings
