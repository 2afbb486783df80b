// What every target asks of a launch before it touches memory: the guard that sizes were read right.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codegen/emit/loop_sizes.h"
#include "support/int_math.h"
#include "support/result.h"

namespace tessiq::codegen {

inline Result<void> check_launch(const std::string& kernel, const emit::LoopSizes& loop,
                                 std::span<void* const> pointers, std::span<const int64_t> sizes,
                                 int64_t element_count) {
  if (pointers.size() != loop.strides.size() || sizes.size() != static_cast<size_t>(loop.argument_count)) {
    return invalid_argument("launch of loop " + kernel + ": got " + std::to_string(pointers.size()) + " pointers and " +
                            std::to_string(sizes.size()) + " sizes, it takes " + std::to_string(loop.strides.size()) +
                            " and " + std::to_string(loop.argument_count));
  }
  int64_t count = 1;
  for (const emit::SizeSlot& extent : loop.extents) {
    const auto product = extent.value(sizes) < 0 ? std::nullopt : checked_mul(count, extent.value(sizes));
    if (!product) {
      return invalid_argument("launch of loop " + kernel + ": an extent is " + std::to_string(extent.value(sizes)));
    }
    count = *product;
  }
  if (count != element_count) {
    return invalid_argument("launch of loop " + kernel + ": its extents have " + std::to_string(count) +
                            " elements, the caller says " + std::to_string(element_count));
  }
  for (size_t tensor = 0; tensor < pointers.size(); ++tensor) {
    if (pointers[tensor] == nullptr && count != 0 && loop.may_be_empty[tensor] == 0) {
      return invalid_argument("launch of loop " + kernel + ": a pointer is null");
    }
  }
  return {};
}

}  // namespace tessiq::codegen
