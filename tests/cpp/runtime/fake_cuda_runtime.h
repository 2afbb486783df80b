// A CUDA runtime for tests: two GPUs whose memory is the host's, a log of calls, and any call made to fail.
//
// Stands in for libcudart through the function table, so that what CudaDevice does around each call (selecting the
// ordinal, mapping codes, clearing the last error) is tested where there is no GPU. It says nothing about the real
// library: the conformance suite does that on a machine that has one.
#pragma once

#include <cuda_runtime_api.h>
#include <cstdint>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda_api/runtime_api.h"

namespace tessiq::testing_support {

struct FakeCudaCall {
  std::string name;
  int device;  // current when the call was made
};

struct FakeCuda {
  // One per process, like the library it stands in for. reset() before each test.
  static FakeCuda& instance();
  static const CudaRuntimeApi& api();
  void reset() { *this = FakeCuda(); }

  // `name` answers `status` once, and leaves it as the last error.
  void fail_next(const std::string& name, cudaError_t status) { failures[name] = status; }
  int count(const std::string& name) const;

  int device_count = 2;
  int driver_version = 13000;
  bool peers = true;
  // Streams whose work has not finished: queries answer "not ready".
  std::set<cudaStream_t> busy;

  int current_device = 0;
  cudaError_t last_error = cudaSuccess;
  std::vector<FakeCudaCall> calls;
  std::map<std::string, cudaError_t> failures;
  std::vector<int> stream_priorities;  // of each stream created
  std::vector<unsigned> stream_flags;
  unsigned host_alloc_flags = 0;
  size_t live_allocations = 0;
  size_t live_events = 0;
  uintptr_t next_stream = 0x1000;

  // The status that `name` answers now; logs the call.
  cudaError_t enter(const char* name);
};

}  // namespace tessiq::testing_support
