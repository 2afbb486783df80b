// The CUDA driver's functions, asked of the runtime library, so that nothing links or opens libcuda itself.
//
// Decides which functions tessiq calls: modules, kernels, their attributes, and the context of a thread. Every one of
// them acts on the thread's current context: select the device first (runtime/cuda/cuda_device.h).
#pragma once

#include <cuda.h>

#include "cuda_api/function_table.h"
#include "support/result.h"

#define TESSIQ_CUDA_DRIVER_FUNCTIONS(X) \
  X(cuCtxGetCurrent)                    \
  X(cuCtxSetCurrent)                    \
  X(cuDeviceGet)                        \
  X(cuDevicePrimaryCtxGetState)         \
  X(cuFuncGetAttribute)                 \
  X(cuFuncSetAttribute)                 \
  X(cuGetErrorName)                     \
  X(cuGetErrorString)                   \
  X(cuGraphAddKernelNode)               \
  X(cuGraphExecKernelNodeSetParams)     \
  X(cuLaunchKernel)                     \
  X(cuLaunchKernelEx)                   \
  X(cuModuleGetFunction)                \
  X(cuModuleGetGlobal)                  \
  X(cuModuleLoadData)                   \
  X(cuModuleLoadDataEx)                 \
  X(cuModuleUnload)                     \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)

namespace tessiq {

struct CudaDriverApi {
  TESSIQ_CUDA_DRIVER_FUNCTIONS(TESSIQ_FUNCTION_MEMBER)
};

// Loads the table on the first call. A failure is kept: every later call gives the same error.
Result<const CudaDriverApi*> cuda_driver_api();

}  // namespace tessiq
