// What is known of a tensor before it exists: element type, shape, layout.
//
// Layout is part of the type because the compiler decides by it: how a loop reads an operand, a library's transpose
// flags, where a packed copy is needed. Where the bytes start (a storage offset) is not: it arrives with the call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/element_type.h"
#include "ir/size_expr.h"
#include "support/result.h"

namespace tessiq::ir {

using Shape = std::vector<Extent>;

struct TensorType {
  ElementType element = ElementType::kFloat32;
  Shape shape;  // rank 0: a scalar
  // Stride of each axis in elements; absent for a packed row-major tensor, never present for one.
  std::optional<std::vector<Extent>> strides;

  int rank() const { return static_cast<int>(shape.size()); }
  bool is_packed() const { return !strides.has_value(); }
  // Absent where an extent is not known.
  std::optional<int64_t> element_count() const;
  bool has_known_shape() const;
  bool has_known_layout() const;

  friend bool operator==(const TensorType&, const TensorType&) = default;
  // "f32[s0, 32]"; with a layout "f32[32, 16]{1, 32}"; a scalar "f32[]".
  std::string to_string() const;
};

// The strides of a packed row-major tensor. Nothing where an extent that matters is not known: a product of symbols has
// no name of its own. Extents of 1 get the stride packing gives them.
std::optional<std::vector<Extent>> packed_strides(const Shape& shape);

// Drops a layout that says what packing says, axes of extent 1 aside (their stride is never used).
// The layout of a tensor without elements says nothing and is dropped.
TensorType normalized(TensorType type);

// kInvalidArgument on a negative extent or stride, a symbol that is not a name, or strides that are not one an axis.
Result<void> check_type(const TensorType& type);

}  // namespace tessiq::ir
