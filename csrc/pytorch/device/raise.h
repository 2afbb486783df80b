// Where a Result of the core becomes an exception that PyTorch understands.
//
// Decides the exception type of each error code for code that PyTorch calls. The bindings have their own table, since
// Python code that calls tessiq expects Python's types (bindings/exceptions.cpp).
#pragma once

#include <utility>

#include "support/result.h"

namespace tessiq::pytorch {

[[noreturn]] void raise(const Error& error);

inline void value_or_raise(const Result<void>& result) {
  if (!result) {
    raise(result.error());
  }
}

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) {
    raise(result.error());
  }
  return std::move(result).value();
}

}  // namespace tessiq::pytorch
