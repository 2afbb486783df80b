// Extents and strides of a described loop as numbers of one call.
//
// Decides where each number comes from: a constant of the description or the k-th size argument. Emitters write them,
// launchers evaluate them, so both read one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "ir/size_expr.h"

namespace tessiq::emit {

struct SizeSlot {
  int64_t constant = 0;
  int argument = -1;  // index into size_arguments(); -1 for a constant

  bool is_constant() const { return argument < 0; }
  bool is(int64_t number) const { return is_constant() && constant == number; }
  int64_t value(std::span<const int64_t> sizes) const {
    return is_constant() ? constant : sizes[static_cast<size_t>(argument)];
  }
  // "64" or "size2".
  std::string text() const { return is_constant() ? std::to_string(constant) : "size" + std::to_string(argument); }
};

struct LookupSizes {
  int positions = 0;  // an input
  SizeSlot stride;
  SizeSlot extent;
  bool wraps = false;
};

struct LoopSizes {
  int argument_count = 0;
  std::vector<SizeSlot> extents;
  std::vector<std::vector<SizeSlot>> strides;     // of inputs, then outputs
  std::vector<SizeSlot> offsets;                  // of the same
  std::vector<char> may_be_empty;                 // of the same: read in windows or lookups alone
  std::vector<std::vector<LookupSizes>> lookups;  // of the same
  std::vector<std::vector<SizeSlot>> positions;   // strides
  // Bounds of windows along the innermost axis: a vector of elements lies on one side of each where its width divides
  // them all.
  std::vector<SizeSlot> inner_bounds;
  // Size arguments that coordinates are divided by: extents behind the first of the rows, and of a row. A CUDA entry
  // takes a multiplier for each after its sizes (0063).
  std::vector<int> divisors;
  bool all_constant = true;

  static LoopSizes of(const LoopKernel& kernel);
  // Whether neighbours along the axis are looked up at positions of their own.
  bool looks_up_along(size_t tensor, size_t axis) const;
  // Of a CUDA entry: sizes, then multipliers.
  int parameter_count() const { return argument_count + static_cast<int>(divisors.size()); }
};

// A number that stands for the division of any index below 2^31 by `divisor`: its quotient is (i + high 32 bits of
// i * m) >> s with m in the lower and s in the upper half. 0 for a divisor that no such index is divided by: below 1,
// and 2^31 or more.
int64_t multiplier_of(int64_t divisor);

// `width` or its half, quarter, ... down to 1: the first that divides the size, where that is known.
int64_t width_dividing(const SizeSlot& size, int64_t width);

SizeSlot slot_of(const ir::SizeExpr& expression, std::span<const ir::SizeExpr> arguments);

// Largest distance from element 0 that any tensor of the loop is read or written at, and at least the number of
// elements; INT64_MAX where it does not fit. Nothing is read where an extent is 0.
int64_t largest_offset(const LoopSizes& loop, std::span<const int64_t> sizes);

}  // namespace tessiq::emit
