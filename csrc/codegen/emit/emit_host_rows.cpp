// A reduction in C++ for the reference device: a row after another, each walked as often as the plan says, what an
// element needs of an earlier walk computed again.
#include "codegen/emit/emitters.h"
#include "codegen/emit/loop_text.h"
#include "codegen/emit/row_function.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

class HostRows : private RowFunction {
 public:
  explicit HostRows(const LoopKernel& kernel)
      : RowFunction(kernel, Elements::kComputedAgain, Sums::kWide, TextTarget::kHost) {}

  Result<KernelSource> build() {
    TESSIQ_ASSIGN_OR_RETURN(const std::string run, run_function());
    const std::string body = "\nnamespace tessiq::@ {\n" + run + "}  // namespace tessiq::@\n" +
                             host_entry(kernel_, sizes_.kept.argument_count);
    return finished(body, {KernelVariant{.entry = "@", .threads = 0}}, TextTarget::kHost);
  }

 private:
  Result<std::string> run_function() {
    std::string text = "static void run(" + pointer_parameters(kernel_) + size_parameters(sizes_.kept.argument_count) +
                       host_range_parameters(kernel_) + ") {\n  for (i64 i = begin; i < end; ++i) {\n" +
                       row_offsets("    ") + row_inputs("    ");
    TESSIQ_ASSIGN_OR_RETURN(const std::string first, step_lines(plan_.row_steps, "    "));
    text += first;
    for (const RowWalk& walk : plan_.walks) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string lines, walk_lines(walk));
      text += lines;
    }
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (kernel_.outputs[k].per_row) {
        text += "    " + row_store(k) + "\n";
      }
    }
    return text + "  }\n}\n";
  }

  Result<std::string> walk_lines(const RowWalk& walk) {
    std::string text;
    for (const LoopStep* step : walk.combines) {
      text += fresh_accumulator(*step, accumulator(*step), "    ");
    }
    if (!walk.combines.empty() || !walk.outputs.empty()) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string elements, element_loop(walk));
      text += elements;
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string results, combined_lines(walk.combines, "", "    "));
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(walk.row_steps, "    "));
    return text + results + steps;
  }

  // The reduced axes but the last are one loop, whose coordinates hide those of the row; the last is a plain loop.
  Result<std::string> element_loop(const RowWalk& walk) {
    LoopSizes outer = sizes_.reduced;
    const size_t outer_axes = outer.extents.size() - 1;
    const std::string length = outer.extents.back().text();
    outer.extents.pop_back();
    std::string text = "    for (i64 j = 0; j < " + product_text(outer.extents, "i64") +
                       "; ++j) {\n      const i64 i = j;\n" + coordinate_lines(outer, TextTarget::kHost, "      ");
    for (size_t t = 0; t < outer.strides.size(); ++t) {
      const std::string number = std::to_string(t);
      text += "      const i64 from" + number + " = at" + number + " + " +
              offset_text(outer.strides[t], outer_axes, "i64") + ";\n";
    }
    text += "      for (i64 k = 0; k < " + length + "; ++k) {\n";
    TESSIQ_ASSIGN_OR_RETURN(const std::string lines, element_lines(walk, length));
    return text + lines + "      }\n    }\n";
  }

  std::string element_place(size_t tensor) const {
    const SizeSlot& stride = sizes_.reduced.strides[tensor].back();
    const std::string from = "from" + std::to_string(tensor);
    return pointer_name(tensor) + "[" + from + (stride.is(0) ? "" : " + k * " + stride.text()) + "]";
  }

  Result<std::string> element_lines(const RowWalk& walk, const std::string& length) {
    const std::string indent = "        ";
    std::string text;
    for (const size_t input : walk.inputs) {
      text += indent + text_.read_input(kernel_.inputs[input], element_place(input)) + "\n";
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(walk.steps, indent));
    text += steps;
    for (const LoopStep* step : walk.combines) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string line, text_.join(*step, accumulator(*step), "j * " + length + " + k"));
      text += indent + line + "\n";
    }
    for (const size_t output : walk.outputs) {
      text += indent + element_place(output_tensor(output)) + " = " + text_.stored(kernel_.outputs[output]) + ";\n";
    }
    return text;
  }
};

}  // namespace

Result<KernelSource> emit_host_rows(const LoopKernel& kernel) { return HostRows(kernel).build(); }

}  // namespace tessiq::emit
