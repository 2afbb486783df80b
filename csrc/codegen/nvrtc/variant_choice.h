// Which entry of a kernel a call may use: alignment, divisibility and the width of indices, decided by numbers alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_sizes.h"

namespace tessiq::nvrtc {

// What a choice needs to know of a described loop, worked out once.
class VariantChoice {
 public:
  VariantChoice(const emit::LoopKernel& kernel, std::vector<emit::KernelVariant> variants);

  // Position of the first variant whose conditions hold; the last one has none.
  size_t choose(std::span<void* const> pointers, std::span<const int64_t> sizes) const;

  const std::vector<emit::KernelVariant>& variants() const { return variants_; }
  const emit::LoopSizes& sizes() const { return sizes_; }

 private:
  bool holds(const emit::KernelVariant& variant, std::span<void* const> pointers, std::span<const int64_t> sizes,
             int64_t largest) const;

  std::vector<emit::KernelVariant> variants_;
  emit::LoopSizes sizes_;
  std::vector<int> element_sizes_;  // of inputs, then outputs
  int64_t static_largest_ = 0;      // largest offset where every size is known
};

}  // namespace tessiq::nvrtc
