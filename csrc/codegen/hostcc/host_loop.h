// A generated loop in this process's address space.
#pragma once

#include <memory>
#include <string>

#include "codegen/emit/loop_sizes.h"
#include "codegen/loaded_kernel.h"

namespace tessiq::hostcc {

using HostEntry = void (*)(void* const* pointers, const int64_t* sizes, int64_t begin, int64_t end, int64_t* fault);

// Loops of several graphs that have the same text share one of these.
struct HostCode {
  HostEntry entry = nullptr;
  std::string entry_name;
  std::string source;
};

class LoadedHostLoop : public codegen::LoadedKernel {
 public:
  LoadedHostLoop(const emit::LoopKernel& kernel, std::shared_ptr<const HostCode> code);

  Result<void> launch(std::span<void* const> pointers, std::span<const int64_t> sizes, int64_t element_count,
                      void* workspace, void* native_stream) override;
  const std::string& source() const override { return code_->source; }
  Result<std::vector<codegen::EntryFacts>> facts() const override;

 private:
  // What a call of the entry counts: elements, or rows of a reduction.
  int64_t units(std::span<const int64_t> sizes, int64_t element_count) const;

  std::string name_;
  emit::LoopSizes sizes_;
  int reduced_axes_;
  std::shared_ptr<const HostCode> code_;
};

// Threads one launch may use: TESSIQ_NUM_THREADS, else the machine's.
int thread_limit();

}  // namespace tessiq::hostcc
