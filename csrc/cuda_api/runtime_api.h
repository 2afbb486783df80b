// The CUDA runtime's functions, loaded on first use.
//
// Decides which functions tessiq calls. Leaves to cuda_error.h what their codes mean and to callers what to do.
// Includes cuda_runtime_api.h and never cuda_runtime.h: the latter overloads names, and decltype(&name) needs one.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda_api/function_table.h"
#include "support/result.h"

#define TESSIQ_CUDA_RUNTIME_FUNCTIONS(X) \
  X(cudaDeviceCanAccessPeer)             \
  X(cudaDeviceEnablePeerAccess)          \
  X(cudaDeviceGetAttribute)              \
  X(cudaDeviceGetPCIBusId)               \
  X(cudaDeviceGetStreamPriorityRange)    \
  X(cudaDeviceSynchronize)               \
  X(cudaDriverGetVersion)                \
  X(cudaEventCreateWithFlags)            \
  X(cudaEventDestroy)                    \
  X(cudaEventElapsedTime)                \
  X(cudaEventQuery)                      \
  X(cudaEventRecord)                     \
  X(cudaEventSynchronize)                \
  X(cudaFree)                            \
  X(cudaFreeHost)                        \
  X(cudaGetDevice)                       \
  X(cudaGetDeviceCount)                  \
  X(cudaGetDeviceProperties)             \
  X(cudaGetDriverEntryPointByVersion)    \
  X(cudaGetErrorName)                    \
  X(cudaGetErrorString)                  \
  X(cudaGetLastError)                    \
  X(cudaGraphDestroy)                    \
  X(cudaGraphExecDestroy)                \
  X(cudaGraphInstantiate)                \
  X(cudaGraphLaunch)                     \
  X(cudaHostAlloc)                       \
  X(cudaMalloc)                          \
  X(cudaMemGetInfo)                      \
  X(cudaMemcpyAsync)                     \
  X(cudaMemcpyPeerAsync)                 \
  X(cudaMemsetAsync)                     \
  X(cudaPeekAtLastError)                 \
  X(cudaPointerGetAttributes)            \
  X(cudaRuntimeGetVersion)               \
  X(cudaSetDevice)                       \
  X(cudaStreamBeginCapture)              \
  X(cudaStreamCreateWithPriority)        \
  X(cudaStreamDestroy)                   \
  X(cudaStreamEndCapture)                \
  X(cudaStreamIsCapturing)               \
  X(cudaStreamQuery)                     \
  X(cudaStreamSynchronize)               \
  X(cudaStreamWaitEvent)                 \
  X(cudaThreadExchangeStreamCaptureMode)

namespace tessiq {

struct CudaRuntimeApi {
  TESSIQ_CUDA_RUNTIME_FUNCTIONS(TESSIQ_FUNCTION_MEMBER)
};

// Loads libcudart on the first call. A failure is kept: every later call gives the same error.
Result<const CudaRuntimeApi*> cuda_runtime_api();

}  // namespace tessiq
