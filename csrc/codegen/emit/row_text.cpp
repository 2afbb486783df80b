#include "codegen/emit/row_text.h"

#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {

using optable::Combine;

namespace {

bool has_position(const LoopStep& step) {
  return step.combine == Combine::kArgMaximum || step.combine == Combine::kArgMinimum;
}

LoopSizes part_of(const LoopSizes& all, size_t begin, size_t end) {
  LoopSizes part;
  part.argument_count = all.argument_count;
  part.all_constant = all.all_constant;
  const auto from = static_cast<std::ptrdiff_t>(begin);
  const auto to = static_cast<std::ptrdiff_t>(end);
  part.extents.assign(all.extents.begin() + from, all.extents.begin() + to);
  for (const std::vector<SizeSlot>& strides : all.strides) {
    part.strides.emplace_back(strides.begin() + from, strides.begin() + to);
  }
  return part;
}

}  // namespace

std::string combination_name(const LoopStep& step) {
  switch (step.combine) {
    case Combine::kNone:
    case Combine::kSum:
    case Combine::kMean:
      return "sum_of";
    case Combine::kProduct:
      return "product_of";
    case Combine::kMaximum:
      return "maximum_of";
    case Combine::kMinimum:
      return "minimum_of";
    case Combine::kArgMaximum:
      return "arg_maximum_of";
    case Combine::kArgMinimum:
      return "arg_minimum_of";
    case Combine::kAny:
      return "any_of";
    case Combine::kAll:
      return "all_of";
  }
  return "sum_of";
}

RowSizes RowSizes::of(const LoopKernel& kernel) {
  const LoopSizes all = LoopSizes::of(kernel);
  const size_t rank = all.extents.size();
  const size_t split = rank - static_cast<size_t>(kernel.reduced_axes);
  return {part_of(all, 0, split), part_of(all, split, rank)};
}

std::string product_text(const std::vector<SizeSlot>& extents, const std::string& index_type) {
  std::vector<std::string> factors;
  for (const SizeSlot& extent : extents) {
    factors.push_back(index_type + "(" + extent.text() + ")");
  }
  return factors.empty() ? index_type + "(1)" : joined(factors, " * ");
}

ir::ElementType RowStatements::accumulated(const LoopStep& step) const {
  const bool adds =
      step.combine == Combine::kSum || step.combine == Combine::kMean || step.combine == Combine::kProduct;
  return sums_ == Sums::kWide && adds && step.compute == ir::ElementType::kFloat32 ? ir::ElementType::kFloat64
                                                                                   : step.compute;
}

std::string RowStatements::accumulator_type(const LoopStep& step) const {
  const std::string element(value_type_name(accumulated(step)));
  return has_position(step) ? "placed<" + element + ">" : element;
}

std::string RowStatements::read_input(const LoopTensor& input, const std::string& stored) {
  return "const " + std::string(value_type_name(input.element)) + " " + names_.of(input.value) + " = " +
         load_conversion(stored, input.element) + ";";
}

std::string RowStatements::read_kept(const LoopStep& step, const std::string& kept) {
  lines_.define(step);
  return "const " + std::string(value_type_name(step.element)) + " " + names_.of(step.value) + " = " + kept + ";";
}

Result<std::string> RowStatements::join(const LoopStep& step, const std::string& accumulator,
                                        const std::string& position) {
  TESSIQ_ASSIGN_OR_RETURN(std::string element, lines_.argument(step.arguments.front(), step.compute));
  element = value_conversion(element, step.compute, accumulated(step));
  if (has_position(step)) {
    element = accumulator_type(step) + "{" + element + ", i64(" + position + ")}";
  }
  return accumulator + " = joined(" + combination_name(step) + "(), " + accumulator + ", " + element + ");";
}

Result<std::string> RowStatements::combined(const LoopStep& step, const std::string& accumulator) {
  std::string value = accumulator;
  ir::ElementType type = accumulated(step);
  if (has_position(step)) {
    value += ".position";
    type = ir::ElementType::kInt64;
  }
  if (step.combine == Combine::kMean) {
    TESSIQ_ASSIGN_OR_RETURN(const std::string count, lines_.argument(step.arguments.at(1), type));
    value += " / " + count;
  }
  lines_.define(step);
  return "const " + std::string(value_type_name(step.element)) + " " + names_.of(step.value) + " = " +
         value_conversion(value, type, step.element) + ";";
}

std::string RowStatements::stored(const LoopTensor& output) {
  const LoopStep* step = find_step(kernel_, output.value);
  const std::string& name = names_.of(output.value);
  return store_conversion(step == nullptr ? name : value_conversion(name, step->element, output.element),
                          output.element);
}

}  // namespace tessiq::emit
