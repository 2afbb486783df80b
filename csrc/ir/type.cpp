// Text of types, and what packing says of strides.
#include "ir/type.h"

#include <algorithm>
#include <utility>

#include "ir/name.h"
#include "support/int_math.h"

namespace tessiq::ir {
namespace {

std::string join(const std::vector<Extent>& extents) {
  std::string text;
  for (size_t i = 0; i < extents.size(); ++i) {
    text += (i == 0 ? "" : ", ") + extents[i].to_string();
  }
  return text;
}

bool all_known(const std::vector<Extent>& extents) {
  return std::all_of(extents.begin(), extents.end(), [](const Extent& extent) { return extent.is_known(); });
}

bool holds_no_elements(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Extent& extent) { return extent.is(0); });
}

// The product where it has a name: numbers multiply, and a symbol times one is itself. An extent of 0 counts as 1, as
// in PyTorch's strides of an empty tensor.
std::optional<Extent> multiply(const Extent& a, const Extent& b) {
  if (b.is(1) || b.is(0)) {
    return a;
  }
  if (a.is(1) && !b.is_unknown()) {
    return b;
  }
  if (!a.is_known() || !b.is_known()) {
    return std::nullopt;
  }
  const std::optional<int64_t> product = checked_mul(a.known(), b.known());
  return product ? std::optional<Extent>(*product) : std::nullopt;
}

Result<void> check_extent(const Extent& extent) {
  if (extent.is_known() && extent.known() < 0) {
    return invalid_argument("size " + extent.to_string() + " is negative");
  }
  if (extent.is_symbol() && !is_symbol_name(extent.name())) {
    return invalid_argument("\"" + extent.name() + "\" cannot name a size symbol");
  }
  return {};
}

}  // namespace

std::optional<int64_t> TensorType::element_count() const {
  if (!has_known_shape()) {
    return std::nullopt;
  }
  if (holds_no_elements(shape)) {
    return 0;
  }
  std::optional<int64_t> count = 1;
  for (const Extent& extent : shape) {
    count = checked_mul(*count, extent.known());
    if (!count) {
      return std::nullopt;
    }
  }
  return count;
}

bool TensorType::has_known_shape() const { return all_known(shape); }

bool TensorType::has_known_layout() const {
  if (strides) {
    return all_known(*strides);
  }
  const std::optional<std::vector<Extent>> packed = packed_strides(shape);
  return packed && all_known(*packed);
}

std::string TensorType::to_string() const {
  std::string text(element_type_name(element));
  text += "[" + join(shape) + "]";
  if (strides) {
    text += "{" + join(*strides) + "}";
  }
  return text;
}

std::optional<std::vector<Extent>> packed_strides(const Shape& shape) {
  std::vector<Extent> strides(shape.size(), Extent(1));
  for (size_t axis = shape.size(); axis > 1; --axis) {
    std::optional<Extent> stride = multiply(strides[axis - 1], shape[axis - 1]);
    if (!stride) {
      return std::nullopt;
    }
    strides[axis - 2] = *std::move(stride);
  }
  return strides;
}

TensorType normalized(TensorType type) {
  if (!type.strides || type.strides->size() != type.shape.size()) {
    return type;
  }
  if (holds_no_elements(type.shape)) {
    type.strides.reset();
    return type;
  }
  const std::optional<std::vector<Extent>> packed = packed_strides(type.shape);
  if (!packed) {
    return type;
  }
  for (size_t axis = 0; axis < type.shape.size(); ++axis) {
    if (!type.shape[axis].is(1) && !(*type.strides)[axis].provably_equals((*packed)[axis])) {
      return type;
    }
  }
  type.strides.reset();
  return type;
}

Result<void> check_type(const TensorType& type) {
  for (const Extent& extent : type.shape) {
    TESSIQ_RETURN_IF_ERROR(check_extent(extent));
  }
  if (!type.strides) {
    return {};
  }
  if (type.strides->size() != type.shape.size()) {
    return invalid_argument("type " + type.to_string() + " has " + std::to_string(type.strides->size()) +
                            " strides for " + std::to_string(type.shape.size()) + " axes");
  }
  for (const Extent& stride : *type.strides) {
    TESSIQ_RETURN_IF_ERROR(check_extent(stride));
  }
  return {};
}

}  // namespace tessiq::ir
