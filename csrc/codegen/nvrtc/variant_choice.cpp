#include "codegen/nvrtc/variant_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "support/int_math.h"

namespace tessiq::nvrtc {

VariantChoice::VariantChoice(const emit::LoopKernel& kernel, std::vector<emit::KernelVariant> variants,
                             int64_t shared_limit)
    : variants_(std::move(variants)),
      sizes_(emit::LoopSizes::of(kernel)),
      shared_limit_(shared_limit),
      kept_axes_(kernel.extents.size() - static_cast<size_t>(kernel.reduced_axes)) {
  for (const std::vector<emit::LoopTensor>* tensors : {&kernel.inputs, &kernel.outputs}) {
    for (const emit::LoopTensor& tensor : *tensors) {
      element_sizes_.push_back(ir::element_size(tensor.element));
    }
  }
  if (sizes_.all_constant) {
    static_largest_ = largest_offset(sizes_, {});
  }
}

int64_t VariantChoice::rows(std::span<const int64_t> sizes) const {
  int64_t rows = 1;
  for (size_t axis = 0; axis < kept_axes_; ++axis) {
    rows *= sizes_.extents[axis].value(sizes);
  }
  return rows;
}

int64_t VariantChoice::row_length(std::span<const int64_t> sizes) const {
  int64_t length = 1;
  for (size_t axis = kept_axes_; axis < sizes_.extents.size(); ++axis) {
    length *= sizes_.extents[axis].value(sizes);
  }
  return length;
}

int64_t VariantChoice::tiles(const emit::KernelVariant& variant, std::span<const int64_t> sizes) const {
  int64_t count = 1;
  for (size_t axis = 0; axis < sizes_.extents.size(); ++axis) {
    const bool tiled = axis + 1 == sizes_.extents.size() || axis == static_cast<size_t>(variant.tile_axis);
    count *= ceil_div(sizes_.extents[axis].value(sizes), tiled ? int64_t{variant.tile} : int64_t{1});
  }
  return count;
}

int64_t VariantChoice::shared_bytes(const emit::KernelVariant& variant, std::span<const int64_t> sizes) const {
  // Each tensor begins at a multiple of 16.
  return variant.shared_bytes_per_element == 0
             ? 0
             : variant.shared_bytes_per_element * row_length(sizes) + 16 * static_cast<int64_t>(element_sizes_.size());
}

size_t VariantChoice::final_variant() const {
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [](const emit::KernelVariant& variant) { return variant.is_final; });
  return static_cast<size_t>(found - variants_.begin());
}

bool VariantChoice::holds(const emit::KernelVariant& variant, std::span<void* const> pointers,
                          std::span<const int64_t> sizes, int64_t largest) const {
  if (variant.is_final || (variant.index_32bit && largest > std::numeric_limits<int32_t>::max())) {
    return false;
  }
  if (variant.longest_row > 0 && row_length(sizes) > variant.longest_row) {
    return false;
  }
  if (shared_bytes(variant, sizes) > shared_limit_) {
    return false;
  }
  const int64_t width = variant.vector_width;
  if (width == 1) {
    return true;
  }
  const size_t inner = (variant.vectors_across_rows ? kept_axes_ : sizes_.extents.size()) - 1;
  const size_t other = variant.tile > 0 ? static_cast<size_t>(variant.tile_axis) : inner;
  for (const size_t axis : {inner, other}) {
    if (sizes_.extents[axis].value(sizes) % variant.inner_multiple != 0) {
      return false;
    }
  }
  for (const emit::SizeSlot& bound : sizes_.inner_bounds) {
    if (bound.value(sizes) % width != 0) {
      return false;
    }
  }
  for (size_t tensor = 0; tensor < element_sizes_.size(); ++tensor) {
    if (!moves_vectors(tensor, inner, width, pointers[tensor], sizes) ||
        (other != inner && !moves_vectors(tensor, other, width, pointers[tensor], sizes))) {
      return false;
    }
  }
  return true;
}

bool VariantChoice::moves_vectors(size_t tensor, size_t along, int64_t width, const void* pointer,
                                  std::span<const int64_t> sizes) const {
  const std::vector<emit::SizeSlot>& strides = sizes_.strides[tensor];
  if (!strides[along].is(1) || sizes_.looks_up_along(tensor, along)) {
    return true;  // read or written element by element, or one element for the whole row
  }
  const auto alignment = static_cast<uintptr_t>(width * element_sizes_[tensor]);
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0 || sizes_.offsets[tensor].value(sizes) % width != 0) {
    return false;
  }
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (axis != along && strides[axis].value(sizes) % width != 0) {
      return false;
    }
  }
  const std::vector<emit::LookupSizes>& lookups = sizes_.lookups[tensor];
  return std::all_of(lookups.begin(), lookups.end(),
                     [&](const emit::LookupSizes& lookup) { return lookup.stride.value(sizes) % width == 0; });
}

size_t VariantChoice::choose(std::span<void* const> pointers, std::span<const int64_t> sizes) const {
  const int64_t largest = sizes_.all_constant ? static_largest_ : largest_offset(sizes_, sizes);
  size_t variant = 0;
  while (variant + 1 < variants_.size() && !holds(variants_[variant], pointers, sizes, largest)) {
    ++variant;
  }
  return variant;
}

}  // namespace tessiq::nvrtc
