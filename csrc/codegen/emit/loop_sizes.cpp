#include "codegen/emit/loop_sizes.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <variant>

#include "support/int_math.h"

namespace tessiq::emit {

bool LoopKernel::reads_in_place() const {
  return positions.empty() && std::all_of(inputs.begin(), inputs.end(), [](const LoopTensor& input) {
           return input.offset == ir::SizeExpr::of_constant(0) && input.lookups.empty();
         });
}

bool LoopKernel::looks_up() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const LoopTensor& input) { return !input.lookups.empty(); });
}

std::vector<ir::SizeExpr> LoopKernel::size_arguments() const {
  std::vector<ir::SizeExpr> arguments;
  auto add = [&](const ir::SizeExpr& expression) {
    const bool constant = expression.kind == ir::SizeExpr::Kind::kConstant;
    if (!constant && std::find(arguments.begin(), arguments.end(), expression) == arguments.end()) {
      arguments.push_back(expression);
    }
  };
  for (const ir::SizeExpr& extent : extents) {
    add(extent);
  }
  for (const std::vector<LoopTensor>* tensors : {&inputs, &outputs}) {
    for (const LoopTensor& tensor : *tensors) {
      std::for_each(tensor.strides.begin(), tensor.strides.end(), add);
    }
  }
  auto add_windows = [&](const std::vector<LoopWindow>& windows) {
    for (const LoopWindow& window : windows) {
      add(window.begin);
      add(window.end);
    }
  };
  for (const LoopTensor& input : inputs) {
    add(input.offset);
    add_windows(input.windows);
    for (const LoopLookup& lookup : input.lookups) {
      add(lookup.stride);
      add(lookup.extent);
    }
  }
  for (const std::vector<ir::SizeExpr>& strides : positions) {
    std::for_each(strides.begin(), strides.end(), add);
  }
  for (const LoopStep& step : steps) {
    for (const LoopArgument& argument : step.arguments) {
      if (const auto* symbol = std::get_if<LoopSymbol>(&argument)) {
        add(symbol->value);
      } else if (const auto* inside = std::get_if<LoopInside>(&argument)) {
        add_windows(inside->windows);
      } else if (const auto* position = std::get_if<LoopPosition>(&argument)) {
        add(position->shift);
      }
    }
  }
  return arguments;
}

int64_t multiplier_of(int64_t divisor) {
  if (divisor < 1 || divisor > std::numeric_limits<int32_t>::max()) {
    return 0;
  }
  const int shift = std::bit_width(static_cast<uint64_t>(divisor - 1));
  const int64_t multiplier = (((int64_t{1} << shift) - divisor) << 32) / divisor + 1;
  return multiplier | int64_t{shift} << 32;
}

int64_t width_dividing(const SizeSlot& size, int64_t width) {
  while (size.is_constant() && size.constant % width != 0) {
    width /= 2;
  }
  return width;
}

SizeSlot slot_of(const ir::SizeExpr& expression, std::span<const ir::SizeExpr> arguments) {
  if (expression.kind == ir::SizeExpr::Kind::kConstant) {
    return {.constant = expression.constant, .argument = -1};
  }
  const auto found = std::find(arguments.begin(), arguments.end(), expression);
  return {.constant = 0, .argument = static_cast<int>(found - arguments.begin())};
}

LoopSizes LoopSizes::of(const LoopKernel& kernel) {
  const std::vector<ir::SizeExpr> arguments = kernel.size_arguments();
  LoopSizes loop;
  loop.argument_count = static_cast<int>(arguments.size());
  auto slot = [&](const ir::SizeExpr& expression) {
    SizeSlot result = slot_of(expression, arguments);
    loop.all_constant = loop.all_constant && result.is_constant();
    return result;
  };
  const size_t first_reduced = kernel.extents.size() - static_cast<size_t>(kernel.reduced_axes);
  for (const ir::SizeExpr& extent : kernel.extents) {
    const SizeSlot& added = loop.extents.emplace_back(slot(extent));
    const size_t axis = loop.extents.size() - 1;
    const bool divides = axis != 0 && axis != first_reduced && !added.is_constant();
    if (divides && std::find(loop.divisors.begin(), loop.divisors.end(), added.argument) == loop.divisors.end()) {
      loop.divisors.push_back(added.argument);
    }
  }
  for (const std::vector<LoopTensor>* tensors : {&kernel.inputs, &kernel.outputs}) {
    for (const LoopTensor& tensor : *tensors) {
      std::vector<SizeSlot>& strides = loop.strides.emplace_back();
      for (const ir::SizeExpr& stride : tensor.strides) {
        strides.push_back(slot(stride));
      }
      loop.offsets.push_back(slot(tensor.offset));
      loop.may_be_empty.push_back(tensor.windows.empty() && tensor.lookups.empty() ? 0 : 1);
      std::vector<LookupSizes>& lookups = loop.lookups.emplace_back();
      for (const LoopLookup& lookup : tensor.lookups) {
        lookups.push_back({lookup.positions, slot(lookup.stride), slot(lookup.extent), lookup.wraps});
      }
    }
  }
  for (const std::vector<ir::SizeExpr>& position : kernel.positions) {
    std::vector<SizeSlot>& strides = loop.positions.emplace_back();
    for (const ir::SizeExpr& stride : position) {
      strides.push_back(slot(stride));
    }
  }
  for (const LoopTensor& input : kernel.inputs) {
    for (const LoopWindow& window : input.windows) {
      const std::vector<SizeSlot>& strides = loop.positions[static_cast<size_t>(window.position)];
      if (!strides.empty() && !strides.back().is(0)) {
        loop.inner_bounds.push_back(slot(window.begin));
        loop.inner_bounds.push_back(slot(window.end));
      }
    }
  }
  return loop;
}

bool LoopSizes::looks_up_along(size_t tensor, size_t axis) const {
  const std::vector<LookupSizes>& own = lookups[tensor];
  return std::any_of(own.begin(), own.end(), [&](const LookupSizes& lookup) {
    return !strides[static_cast<size_t>(lookup.positions)][axis].is(0);
  });
}

int64_t largest_offset(const LoopSizes& loop, std::span<const int64_t> sizes) {
  constexpr int64_t kTooLarge = std::numeric_limits<int64_t>::max();
  int64_t count = 1;
  for (const SizeSlot& extent : loop.extents) {
    const auto product = checked_mul(count, extent.value(sizes));
    if (!product) {
      return kTooLarge;
    }
    count = *product;
  }
  if (count == 0) {
    return 0;
  }
  int64_t largest = count;
  for (size_t tensor = 0; tensor < loop.strides.size(); ++tensor) {
    const std::vector<SizeSlot>& strides = loop.strides[tensor];
    // Of a window that lies behind the beginning: its elements are nearer than those the loop would reach without it.
    int64_t offset = std::max<int64_t>(loop.offsets[tensor].value(sizes), 0);
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      const int64_t stride = std::max<int64_t>(strides[axis].value(sizes), 0);
      const auto step = checked_mul(loop.extents[axis].value(sizes) - 1, stride);
      const auto sum = step ? checked_add(offset, *step) : std::nullopt;
      if (!sum) {
        return kTooLarge;
      }
      offset = *sum;
    }
    for (const LookupSizes& lookup : loop.lookups[tensor]) {
      const auto step = checked_mul(std::max<int64_t>(lookup.extent.value(sizes) - 1, 0), lookup.stride.value(sizes));
      const auto sum = step ? checked_add(offset, *step) : std::nullopt;
      if (!sum) {
        return kTooLarge;
      }
      offset = *sum;
    }
    largest = std::max(largest, offset);
  }
  return largest;
}

}  // namespace tessiq::emit
