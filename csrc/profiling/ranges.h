// Ranges on a thread's time line, for tools that draw them beside what they see of the device.
//
// Decides what such a tool is told. ranges.cpp has NVTX's; PyTorch's own are pytorch/executor/torch_ranges.h.
#pragma once

#include <memory>

#include "support/result.h"

namespace tessiq::profiling {

class Ranges {
 public:
  virtual ~Ranges() = default;
  // Ranges of one thread are closed in the opposite order of their opening. Safe from several threads.
  virtual void push(const char* text) = 0;
  virtual void pop() = 0;
};

// NVTX ranges, drawn by Nsight Systems. The library is loaded on the first call; kNotFound where it is not installed.
Result<std::shared_ptr<Ranges>> nvtx_ranges();

}  // namespace tessiq::profiling
