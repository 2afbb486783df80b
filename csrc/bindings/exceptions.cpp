// The one table from error code to Python exception.
#include "bindings/exceptions.h"

#include <c10/util/Exception.h>

#include "bindings/bindings.h"

namespace tessiq::bindings {
namespace {

// torch.OutOfMemoryError, so that code written for CUDA catches it.
PyObject* out_of_memory_error() {
  static PyObject* type = pybind11::object(pybind11::module_::import("torch").attr("OutOfMemoryError")).release().ptr();
  return type;
}

PyObject* exception_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return PyExc_ValueError;
    case ErrorCode::kUnsupported:
      return PyExc_NotImplementedError;
    case ErrorCode::kNotFound:
      return PyExc_LookupError;
    case ErrorCode::kResourceExhausted:
      return out_of_memory_error();
    case ErrorCode::kExternal:
      return PyExc_RuntimeError;
    case ErrorCode::kInternal:
      return PyExc_AssertionError;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void bind_exceptions(pybind11::module_&) {
  pybind11::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) {
        std::rethrow_exception(pointer);
      }
    } catch (const ErrorException& exception) {
      PyErr_SetString(exception_of(exception.error().code()), exception.what());
    } catch (const c10::OutOfMemoryError& exception) {
      PyErr_SetString(out_of_memory_error(), exception.what_without_backtrace());
    } catch (const c10::IndexError& exception) {
      PyErr_SetString(PyExc_IndexError, exception.what_without_backtrace());
    } catch (const c10::NotImplementedError& exception) {
      PyErr_SetString(PyExc_NotImplementedError, exception.what_without_backtrace());
    } catch (const c10::Error& exception) {
      PyErr_SetString(PyExc_RuntimeError, exception.what_without_backtrace());
    }
  });
}

}  // namespace tessiq::bindings
