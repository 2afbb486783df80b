// Which rule serves which operation, and the rules that need no positions of axes: broadcasts, products, fills.
#include "analysis/shape_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/axis_rules.h"
#include "analysis/shape_rule.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

using ir::Extent;
using ir::Shape;

std::string shown(const Shape& shape) {
  return ir::TensorType{ir::ElementType::kFloat32, shape, {}}.to_string().substr(3);
}

Result<Extent> broadcast_extent(const Extent& a, const Extent& b) {
  if (a.is(1)) {
    return b;
  }
  if (b.is(1) || a.provably_equals(b)) {
    return a;
  }
  if (a.is_known() && b.is_known()) {
    return invalid_argument("sizes " + a.to_string() + " and " + b.to_string() + " do not broadcast");
  }
  return Extent::unknown();
}

// Every operand counts, those inside a list too; constants have no axes.
ShapeResult elementwise(const ir::Node& node, const Arguments&) {
  Shape shape;
  for (const ir::Value* operand : node.operands()) {
    TESSIQ_ASSIGN_OR_RETURN(shape, broadcast(shape, operand->type().shape));
  }
  return std::optional(std::move(shape));
}

ShapeResult same_as_first(const ir::Node&, const Arguments& arguments) {
  const ir::Value* first = arguments.tensor(0);
  return first == nullptr ? no_shape() : std::optional(first->type().shape);
}

ShapeResult scalar(const ir::Node&, const Arguments&) { return std::optional(Shape{}); }

ShapeResult filled(const ir::Node&, const Arguments& arguments) {
  std::optional<ir::SizeList> sizes = arguments.sizes(0, "size");
  if (!sizes) {
    return no_shape();
  }
  return sizes;
}

// a[..., n, k] and b[..., k, m], of ranks both `rank`; `bias` where the product is added to something that broadcasts.
ShapeResult product(const ir::Node& node, const Arguments& arguments, int first, size_t rank) {
  const ir::Value* a = arguments.tensor(first);
  const ir::Value* b = arguments.tensor(first + 1);
  if (a == nullptr || b == nullptr) {
    return no_shape();
  }
  const Shape& left = a->type().shape;
  const Shape& right = b->type().shape;
  if (left.size() != rank || right.size() != rank) {
    return invalid_argument(node.op() + " takes matrices of " + std::to_string(rank) + " axes, found " + shown(left) +
                            " and " + shown(right));
  }
  const Extent& inner_left = left[rank - 1];
  const Extent& inner_right = right[rank - 2];
  if (inner_left.is_known() && inner_right.is_known() && inner_left != inner_right) {
    return invalid_argument(node.op() + " multiplies " + shown(left) + " by " + shown(right) +
                            ", whose inner sizes differ");
  }
  Shape shape = left;
  shape[rank - 1] = right[rank - 1];
  if (rank == 3 && !shape[0].is_known() && right[0].is_known()) {
    shape[0] = right[0];
  }
  return std::optional(std::move(shape));
}

ShapeResult mm(const ir::Node& node, const Arguments& arguments) { return product(node, arguments, 0, 2); }
ShapeResult bmm(const ir::Node& node, const Arguments& arguments) { return product(node, arguments, 0, 3); }
ShapeResult addmm(const ir::Node& node, const Arguments& arguments) { return product(node, arguments, 1, 2); }
ShapeResult baddbmm(const ir::Node& node, const Arguments& arguments) { return product(node, arguments, 1, 3); }

constexpr NamedShapeRule kRules[] = {
    {"mm", mm},
    {"bmm", bmm},
    {"addmm", addmm},
    {"baddbmm", baddbmm},
    {"full", filled},
    {"zeros", filled},
    {"ones", filled},
    {"empty", filled},
    {"scalar_tensor", scalar},
    {"alias", same_as_first},
    {"copy", same_as_first},
    {"flip", same_as_first},
    {"slice_scatter", same_as_first},
};

// Overloads whose positions mean something else than those of the row they share.
constexpr std::string_view kWithoutRule[] = {
    "aten.stack.default", "aten.flatten.using_ints", "aten.var.dim", "aten.std.dim", "aten.empty_like.default",
};

ShapeRule find_rule(const optable::OpInfo& op, std::string_view spelling) {
  if (std::find(std::begin(kWithoutRule), std::end(kWithoutRule), spelling) != std::end(kWithoutRule)) {
    return nullptr;
  }
  for (const NamedShapeRule& rule : kRules) {
    if (rule.name == op.name) {
      return rule.rule;
    }
  }
  if (const ShapeRule rule = find_axis_rule(op.name)) {
    return rule;
  }
  // An expression gives each element from the elements at its own position; index maps (cat, gather) move them.
  const bool is_elementwise = op.category == optable::Category::kElementwise || op.category == optable::Category::kCopy;
  return is_elementwise && op.has_expression() ? elementwise : nullptr;
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t axis = 0; axis < shorter.size(); ++axis) {
    Result<Extent> extent = broadcast_extent(longer[offset + axis], shorter[axis]);
    if (!extent) {
      return std::move(extent).error().with_context("shapes " + shown(a) + " and " + shown(b));
    }
    shape[offset + axis] = *std::move(extent);
  }
  return shape;
}

Result<std::optional<std::vector<Shape>>> infer_shapes(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  const ShapeRule rule = op == nullptr ? nullptr : find_rule(*op, node.op());
  if (rule == nullptr) {
    return std::optional<std::vector<Shape>>();
  }
  TESSIQ_ASSIGN_OR_RETURN(const std::optional<Shape> shape, rule(node, Arguments(node)));
  if (!shape) {
    return std::optional<std::vector<Shape>>();
  }
  TESSIQ_RETURN_IF_ERROR(ir::check_type({ir::ElementType::kFloat32, *shape, {}}));
  // No rule's operation gives results of different shapes: values and indices of a maximum have one.
  return std::optional(std::vector<Shape>(static_cast<size_t>(node.result_count()), *shape));
}

}  // namespace tessiq::analysis
