// How failure travels: every call of the core that can fail returns a Result, and nothing in the core throws.
//
// Decides the six error codes and what a Result holds. Leaves to others what an error becomes at an edge: the one
// table from code to Python exception is bindings/exceptions.cpp, and code that PyTorch calls raises PyTorch's errors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace tessiq {

// Callers branch on the code, never on the text of a message.
enum class ErrorCode {
  kInvalidArgument,    // a malformed request: a device index that does not exist, text that does not parse
  kUnsupported,        // well formed, but this target cannot serve it: the signal to fall back
  kNotFound,           // a look-up that found nothing
  kResourceExhausted,  // out of memory
  kExternal,           // CUDA, NVRTC, a compiler, the filesystem: a failure outside tessiq
  kInternal,           // a bug in tessiq that a check reported
};

// The code's spelling in logs and tests, such as "invalid argument".
std::string_view error_code_name(ErrorCode code);

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  // For a stranger: which thing, what was found, the likely cause; lower case, no full stop.
  const std::string& message() const { return message_; }

  // The same error with `context` and ": " in front of its message.
  Error with_context(std::string_view context) &&;

 private:
  ErrorCode code_;
  std::string message_;
};

Error invalid_argument(std::string message);
Error unsupported(std::string message);
Error not_found(std::string message);
Error resource_exhausted(std::string message);
Error external(std::string message);
Error internal(std::string message);

// Writes what was misused to standard error and aborts.
[[noreturn]] void abort_on_misused_result(const Error* held);

// Holds either a value or an error. Reading the wrong one aborts: it is a bug of the caller, not a failure.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: conversion is the point
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *checked<0>(state_); }
  const T& value() const& { return *checked<0>(state_); }
  T&& value() && { return std::move(*checked<0>(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return *checked<1>(state_); }
  Error&& error() && { return std::move(*checked<1>(state_)); }

 private:
  // Not std::get, which throws: an exception could be caught far away, and the mistake with it.
  template <size_t kWanted, typename State>
  static auto* checked(State& state) {
    auto* wanted = std::get_if<kWanted>(&state);
    if (wanted == nullptr) {
      abort_on_misused_result(std::get_if<1>(&state));
    }
    return wanted;
  }

  std::variant<T, Error> state_;
};

// A call that gives nothing back but can fail.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: conversion is the point

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    if (ok()) {
      abort_on_misused_result(nullptr);
    }
    return *error_;
  }
  Error&& error() && {
    if (ok()) {
      abort_on_misused_result(nullptr);
    }
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace tessiq

#define TESSIQ_CONCAT_INNER(a, b) a##b
#define TESSIQ_CONCAT(a, b) TESSIQ_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, or goes on.
#define TESSIQ_RETURN_IF_ERROR(expression)                     \
  do {                                                         \
    if (auto tessiq_result_ = (expression); !tessiq_result_) { \
      return std::move(tessiq_result_).error();                \
    }                                                          \
  } while (false)

// Declares or assigns `target` from the value of `expression`, or returns its error.
#define TESSIQ_ASSIGN_OR_RETURN(target, expression) \
  TESSIQ_ASSIGN_OR_RETURN_INNER(TESSIQ_CONCAT(tessiq_result_, __LINE__), target, expression)
#define TESSIQ_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                     \
  if (!result) {                                                  \
    return std::move(result).error();                             \
  }                                                               \
  target = std::move(result).value()
