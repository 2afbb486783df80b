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
  // `shared_limit`: bytes of shared memory a block may have besides what its code declares.
  VariantChoice(const emit::LoopKernel& kernel, std::vector<emit::KernelVariant> variants, int64_t shared_limit = 0);

  // Position of the first variant whose conditions hold; the last one has none.
  size_t choose(std::span<void* const> pointers, std::span<const int64_t> sizes) const;

  const std::vector<emit::KernelVariant>& variants() const { return variants_; }
  const emit::LoopSizes& sizes() const { return sizes_; }
  // Of a reduction: how many rows a call has.
  int64_t rows(std::span<const int64_t> sizes) const;
  int64_t row_length(std::span<const int64_t> sizes) const;
  // Blocks of a variant that works in tiles.
  int64_t tiles(const emit::KernelVariant& variant, std::span<const int64_t> sizes) const;
  // Bytes of shared memory that come with the launch of a variant.
  int64_t shared_bytes(const emit::KernelVariant& variant, std::span<const int64_t> sizes) const;
  // Position of the variant that ends rows which several blocks share. Requires that one splits.
  size_t final_variant() const;

 private:
  bool holds(const emit::KernelVariant& variant, std::span<void* const> pointers, std::span<const int64_t> sizes,
             int64_t largest) const;
  // Whether a tensor that is contiguous along an axis has `width` elements aligned wherever a vector of them begins.
  bool moves_vectors(size_t tensor, size_t along, int64_t width, const void* pointer,
                     std::span<const int64_t> sizes) const;

  std::vector<emit::KernelVariant> variants_;
  emit::LoopSizes sizes_;
  int64_t shared_limit_ = 0;
  size_t kept_axes_ = 0;            // of a reduction: the axes that number the rows
  std::vector<int> element_sizes_;  // of inputs, then outputs
  int64_t static_largest_ = 0;      // largest offset where every size is known
};

}  // namespace tessiq::nvrtc
