// Spellings of the error codes, and the constructors of errors.
#include "support/result.h"

#include <cstdio>
#include <cstdlib>

namespace tessiq {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kResourceExhausted:
      return "resource exhausted";
    case ErrorCode::kExternal:
      return "external";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

Error Error::with_context(std::string_view context) && {
  message_.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

Error invalid_argument(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }
Error unsupported(std::string message) { return {ErrorCode::kUnsupported, std::move(message)}; }
Error not_found(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }
Error resource_exhausted(std::string message) { return {ErrorCode::kResourceExhausted, std::move(message)}; }
Error external(std::string message) { return {ErrorCode::kExternal, std::move(message)}; }
Error internal(std::string message) { return {ErrorCode::kInternal, std::move(message)}; }

void abort_on_misused_result(const Error* held) {
  std::fprintf(
      stderr, "tessiq: bug: %s%s\n",
      held != nullptr ? "the value of a failed call was read: " : "the error of a call that succeeded was read",
      held != nullptr ? held->message().c_str() : "");
  std::abort();
}

}  // namespace tessiq
