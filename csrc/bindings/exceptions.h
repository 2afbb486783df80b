// From a Result of the core to Python: the value, or the exception of its error code.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "support/result.h"

namespace tessiq::bindings {

// Carries an Error through pybind11 to the table in exceptions.cpp.
class ErrorException : public std::exception {
 public:
  explicit ErrorException(Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.message().c_str(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

inline void value_or_throw(Result<void> result) {
  if (!result) {
    throw ErrorException(std::move(result).error());
  }
}

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) {
    throw ErrorException(std::move(result).error());
  }
  return std::move(result).value();
}

}  // namespace tessiq::bindings
