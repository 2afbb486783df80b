// Which GPUs this process can use.
//
// Decides that any reason for there being none (no libcudart, no driver, an old driver, no card, a build without CUDA)
// is an empty list and a sentence, never a failure. Constructs devices without touching them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace tessiq {

struct CudaRuntimeApi;

struct CudaDiscovery {
  std::vector<std::unique_ptr<Device>> devices;  // in driver order
  std::string note;                              // why there are none; empty where there are some
};

// Ordinal 0 gets index `first`. Asking the driver for its GPUs starts it, so from here on a forked child cannot use it.
CudaDiscovery discover_cuda_devices(DeviceIndex first);
// The same with the runtime's functions given, for tests.
CudaDiscovery discover_cuda_devices(DeviceIndex first, const Result<const CudaRuntimeApi*>& runtime);

}  // namespace tessiq
