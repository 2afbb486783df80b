// The table from error code to c10 exception.
#include "pytorch/device/raise.h"

#include <c10/util/Exception.h>

namespace tessiq::pytorch {

void raise(const Error& error) {
  const std::string& message = error.message();
  switch (error.code()) {
    case ErrorCode::kResourceExhausted:
      TORCH_CHECK_WITH(OutOfMemoryError, false, "tessiq: ", message);
    case ErrorCode::kUnsupported:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "tessiq: ", message);
    case ErrorCode::kInternal:
      TORCH_INTERNAL_ASSERT(false, "tessiq: ", message);
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kExternal:
      break;
  }
  TORCH_CHECK(false, "tessiq: ", message);
}

}  // namespace tessiq::pytorch
