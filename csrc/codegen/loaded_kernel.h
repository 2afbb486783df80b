// Generated code that is loaded and can be launched: the one interface that every kind of kernel and target has.
//
// Decides how a caller hands over pointers and sizes, and what can be asked of a kernel afterwards. Leaves to nvrtc/
// and hostcc/ how text becomes machine code and which variant of it a call takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "runtime/device.h"
#include "support/result.h"

namespace tessiq::codegen {

// What the compiler made of one entry point. Zeros where the target has no such notion.
struct EntryFacts {
  std::string entry;
  int threads = 0;               // a block
  int registers = 0;             // a thread
  int spilled_bytes = 0;         // of local memory a thread
  int shared_bytes = 0;          // static, a block
  int blocks_per_processor = 0;  // resident at once
};

class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;

  // Queues the computation on `native_stream` (Device::native_stream; ignored by the host target, which has computed
  // when this returns). Safe from any thread.
  //   pointers       inputs then outputs, in the description's order; each is where element 0 of that tensor lies
  //   sizes          values of LoopKernel::size_arguments(), in its order
  //   element_count  of the iteration space; 0 launches nothing, unless rows without elements have a result
  //   workspace      workspace_bytes() of memory that the launch may use until it has passed; null where that is 0
  // kInvalidArgument where the numbers of pointers or sizes are wrong, or a size is negative. kNotFound where an
  // element's position is looked up and its axis has no such position; on a GPU that is an assertion in the kernel,
  // which a later call reports.
  virtual Result<void> launch(std::span<void* const> pointers, std::span<const int64_t> sizes, int64_t element_count,
                              void* workspace, void* native_stream) = 0;
  // What a launch with these arguments needs to work in.
  virtual int64_t workspace_bytes(std::span<void* const> /*pointers*/, std::span<const int64_t> /*sizes*/) const {
    return 0;
  }

  // The text it was compiled from. Equal loops share one kernel, so values are named by position (in0, step1), not as
  // in the graph; emit_cuda and emit_host give the same text with the graph's names.
  virtual const std::string& source() const = 0;
  virtual Result<std::vector<EntryFacts>> facts() const = 0;
};

// One kernel for each description, in order; equal descriptions share one. Compiled together, so hand over a whole
// graph's loops at once. kUnsupported where the target has no compiler (says which is missing).
Result<std::vector<std::shared_ptr<LoadedKernel>>> compile_loops(Device& device,
                                                                 std::span<const emit::LoopKernel> kernels);

// What this process has launched and compiled so far; only ever grows. For tests and explain.
struct KernelCounters {
  std::atomic<uint64_t> cuda_launches{0};
  std::atomic<uint64_t> host_launches{0};
  std::atomic<uint64_t> library_calls{0};    // cuBLASLt
  std::atomic<uint64_t> compilations{0};     // runs of NVRTC or of the system's compiler
  std::atomic<uint64_t> disk_cache_hits{0};  // images that needed none
};
inline KernelCounters& kernel_counters() {
  static KernelCounters counters;
  return counters;
}

}  // namespace tessiq::codegen
