#include "codegen/emit/row_text.h"

#include <algorithm>

#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {

using optable::Combine;

namespace {

bool is_half(ir::ElementType element) { return element != value_type(element); }

bool has_position(const LoopStep& step) {
  return step.combine == Combine::kArgMaximum || step.combine == Combine::kArgMinimum;
}

LoopSizes part_of(const LoopSizes& all, size_t begin, size_t end) {
  LoopSizes part;
  part.argument_count = all.argument_count;
  part.divisors = all.divisors;
  part.all_constant = all.all_constant;
  part.lookups = all.lookups;
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

RowStatements::RowStatements(const LoopKernel& kernel, Sums sums)
    : kernel_(kernel),
      sums_(sums),
      is_narrow_(std::all_of(kernel.outputs.begin(), kernel.outputs.end(),
                             [](const LoopTensor& output) { return is_half(output.element); })),
      lines_(kernel, names_) {}

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

// The value of the row that an element is divided by, where a reciprocal may stand for it; else nothing.
std::string RowStatements::divisor(const LoopStep& step) const {
  const bool divides = step.expression == "($0 / $1)" && step.compute == ir::ElementType::kFloat32 && !step.per_row &&
                       step.arguments.size() == 2 && sums_ == Sums::kAsComputed;
  const auto* read = divides ? std::get_if<LoopRead>(&step.arguments[1]) : nullptr;
  const LoopStep* source = read == nullptr ? nullptr : find_step(kernel_, read->value);
  const bool usable = source != nullptr && source->per_row && value_type(source->element) == ir::ElementType::kFloat32;
  return usable ? read->value : std::string();
}

std::vector<std::string> RowStatements::reciprocals(const std::vector<const LoopStep*>& elements) {
  std::vector<std::string> lines;
  for (const LoopStep* step : elements) {
    const std::string value = divisor(*step);
    if (!value.empty() && inverted_.insert(value).second) {
      const std::string& name = names_.of(value);
      lines.push_back("const float i_" + name + " = 1.0f / " + name + ";");
    }
  }
  return lines;
}

bool RowStatements::ends_narrow(const LoopStep& step) const {
  if (!is_narrow_) {
    return false;
  }
  return std::all_of(kernel_.steps.begin(), kernel_.steps.end(), [&](const LoopStep& reader) {
    const bool reads = std::any_of(reader.arguments.begin(), reader.arguments.end(), [&](const LoopArgument& argument) {
      const auto* read = std::get_if<LoopRead>(&argument);
      return read != nullptr && read->value == step.value;
    });
    return !reads || (reader.expression == "$0" && is_half(reader.element));
  });
}

Result<std::string> RowStatements::step(const LoopStep& step) {
  LoopStep written = step;
  const std::string value = divisor(step);
  if (inverted_.contains(value)) {
    const bool narrow = is_half(step.element) || ends_narrow(step);
    written.expression = std::string(narrow ? "narrow_quotient" : "quotient") + "($0, $1, i_" + names_.of(value) + ")";
  }
  if (sums_ == Sums::kAsComputed && is_narrow_ && step.expression == "exp($0)" &&
      step.compute == ir::ElementType::kFloat32) {
    written.expression = "narrow_exp($0)";
  }
  return lines_.line(written);
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
