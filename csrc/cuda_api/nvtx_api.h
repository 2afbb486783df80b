// NVTX's ranges, from the library that languages without C headers use; it passes them on to whatever tool listens.
#pragma once

#include "support/result.h"

namespace tessiq {

// Written out, since the headers of NVTX are not among those that CUDA code is built with.
struct NvtxApi {
  int (*nvtxRangePushA)(const char* text) = nullptr;
  int (*nvtxRangePop)() = nullptr;
};

// Loads the table on the first call. A failure is kept: every later call gives the same error.
Result<const NvtxApi*> nvtx_api();

}  // namespace tessiq
