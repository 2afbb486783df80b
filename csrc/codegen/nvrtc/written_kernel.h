// Kernels written by hand, compiled by NVRTC for the GPU they run on the first time they run there.
//
// Decides where compiled kernels are kept. Leaves the text to emit/written_source.h and the numbers of a launch to the
// operation that asks for it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "support/result.h"

namespace tessiq::nvrtc {

struct WrittenKernel {
  std::string name;    // of the function, declared extern "C" __global__; several are <name>_<instance>
  std::string source;  // as emit::written_source
};

struct LaunchGrid {
  std::array<unsigned, 3> blocks{1, 1, 1};
  std::array<unsigned, 3> threads{1, 1, 1};
  unsigned shared_bytes = 0;
};

class LoadedWrittenKernel {
 public:
  virtual ~LoadedWrittenKernel() = default;
  // `instance` may be empty. `parameters` are the addresses of the kernel's arguments, read before this returns. Safe
  // from any thread.
  virtual Result<void> launch(const std::string& instance, const LaunchGrid& grid, std::span<void*> parameters,
                              void* native_stream) = 0;
};

// Found in this process, read from disk, or compiled. kUnsupported in a build without CUDA or without NVRTC,
// kExternal with NVRTC's log where it refuses the text.
Result<std::shared_ptr<LoadedWrittenKernel>> load_written_kernel(Device& device, const WrittenKernel& kernel);

// Compiles and drops the result, for every one of `architectures` ("sm_90"); needs no GPU.
Result<void> try_written_kernel(const WrittenKernel& kernel, std::span<const std::string> architectures);

// What a GPU's kernels are compiled for.
Result<std::string> architecture_of(Device& device);
// What kernels are tried for on a machine without a GPU: the oldest and the newest card this NVRTC knows.
Result<std::vector<std::string>> outermost_architectures();

}  // namespace tessiq::nvrtc
