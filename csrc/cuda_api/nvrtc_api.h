// NVRTC's functions, loaded on first use. It needs neither a GPU nor a driver.
//
// Decides which functions tessiq calls. Leaves options, logs and caching to codegen/nvrtc.
#pragma once

#include <nvrtc.h>

#include "cuda_api/function_table.h"
#include "support/result.h"

#define TESSIQ_NVRTC_FUNCTIONS(X) \
  X(nvrtcAddNameExpression)       \
  X(nvrtcCompileProgram)          \
  X(nvrtcCreateProgram)           \
  X(nvrtcDestroyProgram)          \
  X(nvrtcGetCUBIN)                \
  X(nvrtcGetCUBINSize)            \
  X(nvrtcGetErrorString)          \
  X(nvrtcGetLoweredName)          \
  X(nvrtcGetNumSupportedArchs)    \
  X(nvrtcGetPTX)                  \
  X(nvrtcGetPTXSize)              \
  X(nvrtcGetProgramLog)           \
  X(nvrtcGetProgramLogSize)       \
  X(nvrtcGetSupportedArchs)       \
  X(nvrtcVersion)

namespace tessiq {

struct NvrtcApi {
  TESSIQ_NVRTC_FUNCTIONS(TESSIQ_FUNCTION_MEMBER)
};

// Loads libnvrtc on the first call. A failure is kept: every later call gives the same error.
Result<const NvrtcApi*> nvrtc_api();

}  // namespace tessiq
