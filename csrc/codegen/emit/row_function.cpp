#include "codegen/emit/row_function.h"

#include "codegen/emit/lookup_text.h"
#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {

RowFunction::RowFunction(const LoopKernel& kernel, Elements elements, Sums sums, TextTarget target)
    : kernel_(kernel),
      sizes_(RowSizes::of(kernel)),
      plan_(RowPlan::of(kernel, elements)),
      text_(kernel, sums),
      target_(target),
      index_(index_type_of(target)) {}

std::string RowFunction::pointer_name(size_t tensor) const {
  const size_t inputs = kernel_.inputs.size();
  return tensor < inputs ? "in" + number(tensor) : "out" + number(tensor - inputs);
}

const LoopTensor& RowFunction::tensor(size_t index) const {
  return index < kernel_.inputs.size() ? kernel_.inputs[index] : kernel_.outputs[index - kernel_.inputs.size()];
}

std::string RowFunction::pack_type(size_t tensor) const {
  return "pack<" + std::string(storage_type_name(this->tensor(tensor).element)) + ", W>";
}

std::string RowFunction::row_offsets(const std::string& indent) const {
  std::string text = coordinate_lines(sizes_.kept, target_, indent);
  // Positions are an earlier input, and have one element a row.
  auto held = [](int k) { return "in" + std::to_string(k) + "[at" + std::to_string(k) + "]"; };
  for (size_t t = 0; t < sizes_.kept.strides.size(); ++t) {
    text += lookup_lines(sizes_.kept, t, target_, indent, {"", held}) + indent + "const " + index_ + " at" + number(t) +
            " = " + offset_text(sizes_.kept.strides[t], sizes_.kept.extents.size(), index_) +
            lookup_terms(sizes_.kept, t, target_) + ";\n";
  }
  return text;
}

std::string RowFunction::element_offsets(const std::vector<size_t>& tensors) const {
  const std::string indent = "        ";
  std::string text;
  if (sizes_.reduced.extents.size() > 1) {
    text += indent + "const I i = j;\n" + coordinate_lines(sizes_.reduced, target_, indent);
  } else {
    text += indent + "const I i0 = j;\n";
  }
  for (const size_t t : tensors) {
    text += indent + "const I from" + number(t) + " = at" + number(t) + " + " +
            offset_text(sizes_.reduced.strides[t], sizes_.reduced.extents.size(), index_) + ";\n";
  }
  return text;
}

std::string RowFunction::row_inputs(const std::string& indent) {
  std::string text;
  for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
    if (kernel_.inputs[t].per_row) {
      text += indent + text_.read_input(kernel_.inputs[t], pointer_name(t) + "[at" + number(t) + "]") + "\n";
    }
  }
  return text;
}

std::string RowFunction::row_store(size_t output) {
  const size_t t = output_tensor(output);
  return pointer_name(t) + "[at" + number(t) + "] = " + text_.stored(kernel_.outputs[output]) + ";";
}

Result<std::string> RowFunction::step_lines(const std::vector<const LoopStep*>& steps, const std::string& indent) {
  std::string text;
  for (const LoopStep* step : steps) {
    TESSIQ_ASSIGN_OR_RETURN(const std::string line, text_.step(*step));
    text += indent + line + "\n";
  }
  return text;
}

Result<std::string> RowFunction::combined_lines(const std::vector<const LoopStep*>& combines, const std::string& suffix,
                                                const std::string& indent) {
  std::string text;
  for (const LoopStep* step : combines) {
    TESSIQ_ASSIGN_OR_RETURN(const std::string line, text_.combined(*step, accumulator(*step) + suffix));
    text += indent + line + "\n";
  }
  return text;
}

std::string RowFunction::fresh_accumulator(const LoopStep& step, const std::string& name,
                                           const std::string& indent) const {
  const std::string type = text_.accumulator_type(step);
  return indent + type + " " + name + " = first<" + type + ">(" + combination_name(step) + "());\n";
}

std::string RowFunction::fresh_accumulators(const LoopStep& step, const std::string& name,
                                            const std::string& indent) const {
  const std::string type = text_.accumulator_type(step);
  return indent + type + " " + name + "[W];\n#pragma unroll\n" + indent + "for (int k = 0; k < W; ++k) { " + name +
         "[k] = first<" + type + ">(" + combination_name(step) + "()); }\n";
}

std::string RowFunction::for_each_unit(const std::string& place, const std::string& body) {
  return "#pragma unroll\n    for (int u = 0; u < U; ++u) {\n      const I j = " + place + ";\n      if (j < end) {\n" +
         body + "      }\n    }\n";
}

}  // namespace tessiq::emit
