// One rule an operation. Sizes that would be an expression of symbols are left unknown: the graph's own record, which
// names them, wins when the two are merged.
#include "analysis/axis_rules.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "support/int_math.h"

namespace tessiq::analysis {
namespace {

using ir::Extent;
using ir::Shape;

Result<std::vector<size_t>> axes_of(const ir::Node& node, const ir::SizeList& axes, size_t rank) {
  std::vector<size_t> result;
  for (const Extent& axis : axes) {
    if (!axis.is_known()) {
      return invalid_argument(node.op() + " names axis " + axis.to_string() + ", which is not a number");
    }
    TESSIQ_ASSIGN_OR_RETURN(const size_t found, axis_of(node, axis.known(), rank));
    if (std::find(result.begin(), result.end(), found) != result.end()) {
      return invalid_argument(node.op() + " names axis " + std::to_string(found) + " twice");
    }
    result.push_back(found);
  }
  return result;
}

// (self, dim?, keepdim?): no axes given means all of them.
ShapeResult reduction(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr) {
    return no_shape();
  }
  const Shape& input = self->type().shape;
  if (arguments.given(1, "dim") && !arguments.sizes(1, "dim")) {
    return no_shape();
  }
  const ir::SizeList axes = arguments.sizes(1, "dim").value_or(ir::SizeList{});
  // A scalar may be reduced over axis 0 or -1, as in PyTorch.
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<size_t> reduced, axes_of(node, axes, std::max<size_t>(input.size(), 1)));
  const bool keep = arguments.boolean(2, "keepdim").value_or(false);
  Shape shape;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const bool is_reduced = reduced.empty() || std::find(reduced.begin(), reduced.end(), axis) != reduced.end();
    if (!is_reduced) {
      shape.push_back(input[axis]);
    } else if (keep) {
      shape.push_back(1);
    }
  }
  return std::optional(std::move(shape));
}

ShapeResult permute(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<ir::SizeList> order = arguments.sizes(1, "dims");
  if (self == nullptr || !order) {
    return no_shape();
  }
  const Shape& input = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<size_t> axes, axes_of(node, *order, input.size()));
  if (axes.size() != input.size()) {
    return invalid_argument(node.op() + " orders " + std::to_string(axes.size()) + " axes of a tensor with " +
                            std::to_string(input.size()));
  }
  Shape shape;
  for (const size_t axis : axes) {
    shape.push_back(input[axis]);
  }
  return std::optional(std::move(shape));
}

ShapeResult swap_axes(const ir::Node& node, const Shape& input, int64_t first, int64_t second) {
  TESSIQ_ASSIGN_OR_RETURN(const size_t a, axis_of(node, first, input.size()));
  TESSIQ_ASSIGN_OR_RETURN(const size_t b, axis_of(node, second, input.size()));
  Shape shape = input;
  std::swap(shape[a], shape[b]);
  return std::optional(std::move(shape));
}

ShapeResult transpose(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<int64_t> first = arguments.integer(1, "dim0");
  const std::optional<int64_t> second = arguments.integer(2, "dim1");
  if (self == nullptr || !first || !second) {
    return no_shape();
  }
  return self->type().shape.empty() ? std::optional<Shape>(Shape{})
                                    : swap_axes(node, self->type().shape, *first, *second);
}

ShapeResult matrix_transpose(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr) {
    return no_shape();
  }
  const Shape& input = self->type().shape;
  if (input.size() > 2) {
    return invalid_argument(node.op() + " takes at most 2 axes, found " + std::to_string(input.size()));
  }
  return input.size() < 2 ? std::optional<Shape>(input) : swap_axes(node, input, 0, 1);
}

ShapeResult unsqueeze(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<int64_t> position = arguments.integer(1, "dim");
  if (self == nullptr || !position) {
    return no_shape();
  }
  Shape shape = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, *position, shape.size() + 1));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), Extent(1));
  return std::optional(std::move(shape));
}

// Which axes go depends on their sizes, so every size asked about has to be a number.
ShapeResult squeeze(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr || (arguments.given(1, "dim") && !arguments.sizes(1, "dim"))) {
    return no_shape();
  }
  const Shape& input = self->type().shape;
  std::optional<ir::SizeList> named = arguments.sizes(1, "dim");
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<size_t> axes,
                          axes_of(node, named.value_or(ir::SizeList{}), std::max<size_t>(input.size(), 1)));
  Shape shape;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const bool is_asked = !named || std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (is_asked && !input[axis].is_known()) {
      return no_shape();
    }
    if (!is_asked || !input[axis].is(1)) {
      shape.push_back(input[axis]);
    }
  }
  return std::optional(std::move(shape));
}

ShapeResult expand(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<ir::SizeList> sizes = arguments.sizes(1, "size");
  if (self == nullptr || !sizes) {
    return no_shape();
  }
  const Shape& input = self->type().shape;
  if (sizes->size() < input.size()) {
    return invalid_argument(node.op() + " gives " + std::to_string(sizes->size()) + " sizes for " +
                            std::to_string(input.size()) + " axes");
  }
  Shape shape = *sizes;
  const size_t offset = sizes->size() - input.size();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    if (shape[offset + axis].is(-1)) {
      shape[offset + axis] = input[axis];
    }
  }
  return std::optional(std::move(shape));
}

// Sizes as given; the one that is -1 is worked out where every other and the element count are numbers.
ShapeResult view(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<ir::SizeList> sizes = arguments.sizes(1, "size");
  if (self == nullptr || !sizes) {
    return no_shape();
  }
  Shape shape = *sizes;
  const auto open = std::find(shape.begin(), shape.end(), Extent(-1));
  if (open == shape.end()) {
    return std::optional(std::move(shape));
  }
  *open = 1;
  const std::optional<int64_t> rest = ir::TensorType{ir::ElementType::kFloat32, shape, {}}.element_count();
  const std::optional<int64_t> count = self->type().element_count();
  if (rest && count && *rest > 0) {
    if (*count % *rest != 0) {
      return invalid_argument(node.op() + " cannot divide " + std::to_string(*count) + " elements by " +
                              std::to_string(*rest));
    }
    *open = *count / *rest;
  } else {
    *open = Extent::unknown();
  }
  return std::optional(std::move(shape));
}

ShapeResult concatenate(const ir::Node& node, const Arguments& arguments) {
  const TensorList* parts = arguments.tensors(0);
  if (parts == nullptr || parts->empty() || std::find(parts->begin(), parts->end(), nullptr) != parts->end()) {
    return no_shape();
  }
  Shape shape = parts->front()->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, arguments.integer(1, "dim").value_or(0), shape.size()));
  for (size_t i = 1; i < parts->size(); ++i) {
    const Shape& part = (*parts)[i]->type().shape;
    if (part.size() != shape.size()) {
      return no_shape();  // PyTorch lets an empty vector join anything
    }
    const bool known = shape[axis].is_known() && part[axis].is_known();
    const std::optional<int64_t> sum = known ? checked_add(shape[axis].known(), part[axis].known()) : std::nullopt;
    shape[axis] = sum ? Extent(*sum) : Extent::unknown();
  }
  return std::optional(std::move(shape));
}

ShapeResult slice(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr) {
    return no_shape();
  }
  Shape shape = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, arguments.integer(1, "dim").value_or(0), shape.size()));
  for (const auto& [position, keyword] : {std::pair(2, "start"), std::pair(3, "end"), std::pair(4, "step")}) {
    if (arguments.given(position, keyword) && !arguments.integer(position, keyword)) {
      shape[axis] = Extent::unknown();
    }
  }
  const int64_t start = arguments.integer(2, "start").value_or(0);
  const int64_t end = arguments.integer(3, "end").value_or(std::numeric_limits<int64_t>::max());
  const int64_t step = arguments.integer(4, "step").value_or(1);
  if (step < 1) {
    return invalid_argument(node.op() + " has step " + std::to_string(step) + ", which is not positive");
  }
  if (start == 0 && end == std::numeric_limits<int64_t>::max() && step == 1) {
    return std::optional(std::move(shape));
  }
  if (!shape[axis].is_known()) {
    shape[axis] = Extent::unknown();
    return std::optional(std::move(shape));
  }
  const int64_t size = shape[axis].known();
  // Adding a non-negative size to a negative index cannot overflow.
  const int64_t from = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  const int64_t to = std::clamp<int64_t>(end < 0 ? end + size : end, from, size);
  shape[axis] = to == from ? 0 : (to - from - 1) / step + 1;
  return std::optional(std::move(shape));
}

ShapeResult select(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const std::optional<int64_t> dim = arguments.integer(1, "dim");
  if (self == nullptr || !dim) {
    return no_shape();
  }
  Shape shape = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, *dim, shape.size()));
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  return std::optional(std::move(shape));
}

// A row of the weight for each position.
ShapeResult embedding(const ir::Node&, const Arguments& arguments) {
  const ir::Value* weight = arguments.tensor(0);
  const ir::Value* positions = arguments.tensor(1);
  if (weight == nullptr || positions == nullptr || weight->type().rank() != 2) {
    return no_shape();
  }
  Shape shape = positions->type().shape;
  shape.push_back(weight->type().shape[1]);
  return std::optional(std::move(shape));
}

ShapeResult index_select(const ir::Node& node, const Arguments& arguments) {
  const ir::Value* self = arguments.tensor(0);
  const ir::Value* positions = arguments.tensor(2);
  const std::optional<int64_t> dim = arguments.integer(1, "dim");
  if (self == nullptr || positions == nullptr || !dim || self->type().shape.empty()) {
    return no_shape();
  }
  Shape shape = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, *dim, shape.size()));
  shape[axis] = positions->type().shape.empty() ? Extent(1) : positions->type().shape.front();
  return std::optional(std::move(shape));
}

ShapeResult gather(const ir::Node&, const Arguments& arguments) {
  const ir::Value* positions = arguments.tensor(2);
  return positions == nullptr ? no_shape() : std::optional(positions->type().shape);
}

constexpr NamedShapeRule kRules[] = {
    {"sum", reduction},
    {"mean", reduction},
    {"prod", reduction},
    {"amax", reduction},
    {"amin", reduction},
    {"max", reduction},
    {"min", reduction},
    {"max_dim", reduction},
    {"any", reduction},
    {"min_dim", reduction},
    {"all", reduction},
    {"argmax", reduction},
    {"argmin", reduction},
    {"logsumexp", reduction},
    {"var", reduction},
    {"std", reduction},
    {"permute", permute},
    {"transpose", transpose},
    {"t", matrix_transpose},
    {"var_mean", reduction},
    {"expand", expand},
    {"view", view},
    {"reshape", view},
    {"unsqueeze", unsqueeze},
    {"cat", concatenate},
    {"slice", slice},
    {"select", select},
    {"squeeze", squeeze},
    {"gather", gather},
    {"embedding", embedding},
    {"index_select", index_select},
};

}  // namespace

ShapeRule find_axis_rule(std::string_view name) {
  for (const NamedShapeRule& rule : kRules) {
    if (rule.name == name) {
      return rule.rule;
    }
  }
  return nullptr;
}

}  // namespace tessiq::analysis
