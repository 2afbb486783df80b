// One function an operation: the windows of its operands, and the expression that chooses among them.
#include "analysis/index_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/arguments.h"
#include "analysis/lookups.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;
using optable::IndexMap;

// Conditions that an ElementStep can mark as bool.
constexpr size_t kMaxConditions = 32;

SizeExpr constant(int64_t value) { return SizeExpr::of_constant(value); }

bool is_absent(const ir::Attribute* attribute) {
  return attribute == nullptr || std::holds_alternative<ir::None>(*attribute) ||
         (std::holds_alternative<bool>(*attribute) && !std::get<bool>(*attribute));
}

Result<StepArgument> number_or(const ir::Node& node, const ir::Attribute* attribute, std::string_view key,
                               int64_t otherwise) {
  return attribute == nullptr || std::holds_alternative<ir::None>(*attribute) ? Result<StepArgument>(otherwise)
                                                                              : step_number(node, key, *attribute);
}

// (end), (start, end) or (start, end, step); as prims.iota, (length) with start and step by name. How many there are is
// the result's extent.
Result<ElementStep> arange(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(
      node, {"0", "1", "2", "start", "end", "step", "dtype", "layout", "device", "pin_memory", "requires_grad"}));
  if (!node.operands().empty() || node.result()->type().rank() != 1) {
    return unsupported(node.op() + " is not a list of numbers");
  }
  if (!is_absent(node.attribute("pin_memory")) || !is_absent(node.attribute("requires_grad"))) {
    return unsupported(node.op() + ": pinned memory or a gradient is asked for");
  }
  const Arguments arguments(node);
  const ir::Attribute* start = arguments.count() > 1 ? arguments.constant(0) : node.attribute("start");
  TESSIQ_ASSIGN_OR_RETURN(StepArgument first, number_or(node, start, "start", 0));
  TESSIQ_ASSIGN_OR_RETURN(StepArgument step, number_or(node, arguments.constant(2, "step"), "step", 1));
  return copied_step(node, "($0 + $1 * $2)", {std::move(first), std::move(step), StepPosition{0}}, 0);
}

// (parts, dim). Each part has the positions after the one before.
Result<ElementStep> concatenate(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"list.0", "1", "dim"}));
  const Arguments arguments(node);
  const TensorList* parts = arguments.tensors(0);
  const size_t rank = node.result()->type().shape.size();
  if (parts == nullptr || std::find(parts->begin(), parts->end(), nullptr) != parts->end()) {
    return unsupported(node.op() + " of something other than a list of tensors");
  }
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, arguments.integer(1, "dim").value_or(0), rank));
  SizeExpr end = constant(0);
  std::vector<StepOperand> operands;
  for (const ir::Value* part : *parts) {
    const ir::Shape& shape = part->type().shape;
    if (shape.size() != rank) {
      return unsupported("%" + part->name() + " has another number of axes than the result");
    }
    const SizeExpr begin = end;
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, to_expr(shape[axis]));
    end = sum(begin, extent);
    if (!provably_equal(extent, constant(0))) {
      operands.push_back({operand_index(node, part), {{static_cast<int>(axis), begin, end}}});
    }
  }
  if (operands.empty() || operands.size() > kMaxConditions + 1) {
    return unsupported(node.op() + " joins " + std::to_string(operands.size()) + " tensors with elements");
  }
  std::vector<StepArgument> conditions;
  std::string expression;
  std::string closing;
  const size_t count = operands.size() - 1;  // the last part needs no condition
  for (size_t i = 0; i < count; ++i) {
    conditions.emplace_back(StepInside{operands[i].windows});
    expression += "($" + std::to_string(i) + " ? $" + std::to_string(count + i) + " : ";
    closing += ")";
  }
  expression += "$" + std::to_string(2 * count) + closing;
  const auto is_condition = static_cast<uint32_t>((uint64_t{1} << count) - 1);
  conditions.insert(conditions.end(), operands.begin(), operands.end());
  return copied_step(node, std::move(expression), std::move(conditions), is_condition);
}

// (self, dims).
Result<ElementStep> flip(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"1", "dims"}));
  const Arguments arguments(node);
  const std::optional<ir::SizeList> dims = arguments.sizes(1, "dims");
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr || !dims) {
    return unsupported(node.op() + " of axes that are not a list of numbers");
  }
  StepOperand operand{operand_index(node, self)};
  for (const ir::Extent& dim : *dims) {
    if (!dim.is_known()) {
      return unsupported(node.op() + " names axis " + dim.to_string());
    }
    TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, dim.known(), self->type().shape.size()));
    operand.reversed.push_back(static_cast<int>(axis));
  }
  return copied_step(node, "$0", {std::move(operand)}, 0);
}

// (self, [left, right] from the last axis on, value).
Result<ElementStep> pad(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"1", "pad", "2", "value"}));
  const Arguments arguments(node);
  const std::optional<ir::SizeList> amounts = arguments.sizes(1, "pad");
  const ir::Value* self = arguments.tensor(0);
  if (self == nullptr || !amounts || amounts->size() % 2 != 0 || amounts->size() / 2 > self->type().shape.size()) {
    return unsupported(node.op() + " by something other than two numbers an axis");
  }
  const ir::Shape& shape = self->type().shape;
  std::vector<Window> windows;
  for (size_t i = 0; 2 * i < amounts->size(); ++i) {
    if ((*amounts)[2 * i].is(0) && (*amounts)[2 * i + 1].is(0)) {
      continue;
    }
    const size_t axis = shape.size() - 1 - i;
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr begin, to_expr((*amounts)[2 * i]));
    TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, to_expr(shape[axis]));
    windows.push_back({static_cast<int>(axis), begin, sum(begin, extent)});
  }
  TESSIQ_ASSIGN_OR_RETURN(StepArgument value, number_or(node, arguments.constant(2, "value"), "value", 0));
  StepInside inside{windows};
  return copied_step(node, "($0 ? $1 : $2)",
                     {std::move(inside), StepOperand{operand_index(node, self), std::move(windows)}, std::move(value)},
                     1);
}

// Where the slice begins; nothing where that depends on a size that is not known.
std::optional<SizeExpr> slice_begin(const Arguments& arguments, const ir::Extent& extent) {
  if (!arguments.given(3, "start")) {
    return constant(0);
  }
  const std::optional<int64_t> start = arguments.integer(3, "start");
  if (!start || (!extent.is_known() && *start < 0)) {
    return std::nullopt;
  }
  // A slice that begins past the end has no elements: where its window lies does not matter.
  return constant(*start >= 0 ? *start : std::max<int64_t>(*start + extent.known(), 0));
}

// (self, src, dim, start, end, step), with src as long as the slice.
Result<ElementStep> slice_scatter(const ir::Node& node) {
  TESSIQ_RETURN_IF_ERROR(check_keys(node, {"2", "3", "4", "5", "dim", "start", "end", "step"}));
  const Arguments arguments(node);
  const ir::Value* self = arguments.tensor(0);
  const ir::Value* source = arguments.tensor(1);
  if (self == nullptr || source == nullptr || source->type().shape.size() != self->type().shape.size()) {
    return unsupported(node.op() + " of something other than two tensors of one rank");
  }
  if (arguments.integer(5, "step").value_or(1) != 1 || (arguments.given(5, "step") && !arguments.integer(5, "step"))) {
    return unsupported(node.op() + " in steps other than 1");
  }
  const ir::Shape& shape = self->type().shape;
  TESSIQ_ASSIGN_OR_RETURN(const size_t axis, axis_of(node, arguments.integer(2, "dim").value_or(0), shape.size()));
  const std::optional<SizeExpr> begin = slice_begin(arguments, shape[axis]);
  if (!begin) {
    return unsupported(node.op() + " from a start that is not known before the call");
  }
  TESSIQ_ASSIGN_OR_RETURN(const SizeExpr extent, to_expr(source->type().shape[axis]));
  const std::vector<Window> windows = {{static_cast<int>(axis), *begin, sum(*begin, extent)}};
  return copied_step(
      node, "($0 ? $1 : $2)",
      {StepInside{windows}, StepOperand{operand_index(node, source), windows}, StepOperand{operand_index(node, self)}},
      1);
}

}  // namespace

int operand_index(const ir::Node& node, const ir::Value* value) {
  const auto& operands = node.operands();
  return static_cast<int>(std::find(operands.begin(), operands.end(), value) - operands.begin());
}

Result<void> check_keys(const ir::Node& node, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, attribute] : node.attributes()) {
    const bool is_known = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!is_known && !key.starts_with(ir::kPassPrefix)) {
      return unsupported(node.op() + ": " + key + " = " + ir::attribute_to_string(attribute) + " is not understood");
    }
  }
  return {};
}

ElementStep copied_step(const ir::Node& node, std::string expression, std::vector<StepArgument> arguments,
                        uint32_t bool_arguments) {
  ElementStep step;
  step.expression = std::move(expression);
  step.arguments = std::move(arguments);
  step.bool_arguments = bool_arguments;
  step.element = node.result()->type().element;
  step.operates_on = step.element;
  const bool is_half = step.element == ir::ElementType::kFloat16 || step.element == ir::ElementType::kBFloat16;
  step.compute = is_half ? ir::ElementType::kFloat32 : step.element;
  return step;
}

Result<ElementStep> index_map_step(const ir::Node& node, const optable::OpInfo& op) {
  switch (op.index_map) {
    case IndexMap::kArange:
      return arange(node);
    case IndexMap::kConcatenate:
      return concatenate(node);
    case IndexMap::kFlip:
      return flip(node);
    case IndexMap::kPad:
      return pad(node);
    case IndexMap::kSliceScatter:
      return slice_scatter(node);
    case IndexMap::kEmbedding:
    case IndexMap::kIndexSelect:
    case IndexMap::kGather:
    case IndexMap::kIndex:
      return lookup_step(node, op);
    case IndexMap::kNone:
      break;
  }
  return internal(node.op() + " has no index map");
}

Result<LoopAccess> operand_access(const ir::Node& node, const StepOperand& operand) {
  if (!operand.lookups.empty()) {
    return looked_up_access(node, operand);
  }
  const ir::TensorType& type = node.operand(operand.index)->type();
  ir::Shape space = node.result()->type().shape;
  for (const Window& window : operand.windows) {
    space[static_cast<size_t>(window.axis)] = type.shape[static_cast<size_t>(window.axis)];
  }
  TESSIQ_ASSIGN_OR_RETURN(LoopAccess access, loop_access(type, space));
  for (const int axis : operand.reversed) {
    SizeExpr& stride = access.strides[static_cast<size_t>(axis)];
    stride = product(stride, constant(-1));
  }
  return access;
}

}  // namespace tessiq::analysis
