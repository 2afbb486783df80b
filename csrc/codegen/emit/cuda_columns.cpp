#include "codegen/emit/cuda_columns.h"

#include "codegen/emit/loop_text.h"
#include "codegen/emit/row_function.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

// 32 threads side by side have W rows each; 8 of them, one below the other, share the elements of a row.
class Columns : private RowFunction {
 public:
  explicit Columns(const LoopKernel& kernel)
      : RowFunction(kernel, Elements::kComputedAgain, Sums::kAsComputed, TextTarget::kCuda) {}

  Result<std::string> function() {
    std::string text = "template <typename I, int U, int W> TESSIQ_INLINE void columns(" + pointer_parameters(kernel_) +
                       size_parameters(sizes_.kept.parameter_count()) +
                       ", void* workspace) {\n"
                       "  const I i = (I(blockIdx.x) * 32 + I(threadIdx.x % 32)) * W;\n"
                       "  const bool is_inside = i < " +
                       rows() + ";\n  const I length = " + product_text(sizes_.reduced.extents, "I") +
                       ";\n  const I part = (length + I(gridDim.y) - 1) / I(gridDim.y);\n"
                       "  const I begin = I(blockIdx.y) * part;\n"
                       "  const I end = !is_inside ? begin : begin + part < length ? begin + part : length;\n" +
                       row_offsets("  ");
    text += row_packs();
    for (const LoopStep* step : combines()) {
      text += fresh_accumulators(*step, accumulator(*step), "  ");
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string elements, element_loop());
    text += elements + share();
    TESSIQ_ASSIGN_OR_RETURN(const std::string ends, row_ends());
    return text + ends + "}\n";
  }

 private:
  static constexpr const char* kPlace = "base + I(u * 8)";

  const std::vector<const LoopStep*>& combines() const { return plan_.walks.front().combines; }
  std::string load_text(size_t t, const std::string& place) const {
    const std::string from = pointer_name(t) + " + " + place;
    if (sizes_.kept.extents.empty() || sizes_.kept.strides[t].back().is(0)) {
      return "broadcast<W>(" + from + ")";
    }
    const SizeSlot& stride = sizes_.kept.strides[t].back();
    return stride.is(1) ? "load<W>(" + from + ")" : "gather<W>(" + from + ", I(" + stride.text() + "))";
  }
  std::string store_text(size_t t, const std::string& place) const {
    const std::string to = pointer_name(t) + " + " + place + ", ";
    if (sizes_.kept.extents.empty()) {
      return "store(" + to + "q_" + pointer_name(t) + ");";
    }
    const SizeSlot& stride = sizes_.kept.strides[t].back();
    return stride.is(1) ? "store(" + to + "q_" + pointer_name(t) + ");"
                        : "scatter(" + to + "I(" + stride.text() + "), q_" + pointer_name(t) + ");";
  }

  // Inputs that have one element a row, W of them.
  std::string row_packs() const {
    std::string text;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      if (kernel_.inputs[t].per_row) {
        text += "  " + pack_type(t) + " p_in" + number(t) + ";\n  if (is_inside) { p_in" + number(t) + " = " +
                load_text(t, "at" + number(t)) + "; }\n";
      }
    }
    return text;
  }
  // Their elements for row k, and what depends on nothing else.
  Result<std::string> row_values(const std::string& indent) {
    std::string text;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      if (kernel_.inputs[t].per_row) {
        text += indent + text_.read_input(kernel_.inputs[t], "p_in" + number(t) + ".at[k]") + "\n";
      }
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(plan_.row_steps, indent));
    return text + steps;
  }

  Result<std::string> element_loop() {
    const RowWalk& walk = plan_.walks.front();
    std::string loads = element_offsets(walk.inputs);
    std::string text = "  for (I base = begin + I(threadIdx.x / 32); base < end; base += I(U * 8)) {\n";
    for (const size_t input : walk.inputs) {
      text += "    " + pack_type(input) + " p_in" + number(input) + "[U];\n";
      loads += "        p_in" + number(input) + "[u] = " + load_text(input, "from" + number(input)) + ";\n";
    }
    text += for_each_unit(kPlace, loads);
    std::vector<size_t> written;
    std::string body;
    for (const size_t output : walk.outputs) {
      written.push_back(output_tensor(output));
      body += "        " + pack_type(written.back()) + " q_" + pointer_name(written.back()) + ";\n";
    }
    const std::string indent = "          ";
    body += "#pragma unroll\n        for (int k = 0; k < W; ++k) {\n";
    TESSIQ_ASSIGN_OR_RETURN(const std::string values, row_values(indent));
    body += values;
    for (const size_t input : walk.inputs) {
      body += indent + text_.read_input(kernel_.inputs[input], "p_in" + number(input) + "[u].at[k]") + "\n";
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(walk.steps, indent));
    body += steps;
    for (const LoopStep* step : walk.combines) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string line, text_.join(*step, "few_" + accumulator(*step) + "[k]", "j"));
      body += indent + line + "\n";
    }
    for (const size_t output : walk.outputs) {
      body += indent + "q_" + pointer_name(output_tensor(output)) +
              ".at[k] = " + text_.stored(kernel_.outputs[output]) + ";\n";
    }
    body += "        }\n" + (written.empty() ? std::string() : element_offsets(written));
    for (const size_t t : written) {
      body += "        " + store_text(t, "from" + number(t)) + "\n";
    }
    // A few elements at a time: a single chain of additions would be off by a rounding for each element of a column.
    for (const LoopStep* step : walk.combines) {
      text += fresh_accumulators(*step, "few_" + accumulator(*step), "    ");
    }
    text += for_each_unit(kPlace, body);
    for (const LoopStep* step : walk.combines) {
      const std::string a = accumulator(*step);
      text += "#pragma unroll\n    for (int k = 0; k < W; ++k) { " + a + "[k] = joined(" + combination_name(*step) +
              "(), " + a + "[k], few_" + a + "[k]); }\n";
    }
    return text + "  }\n";
  }

  // The first of the 8 gathers what the others combined.
  std::string share() {
    std::string text;
    for (const LoopStep* step : combines()) {
      const std::string a = accumulator(*step);
      text += "  __shared__ " + text_.accumulator_type(*step) + " s_" + a + "[8][W][32];\n#pragma unroll\n" +
              "  for (int k = 0; k < W; ++k) { s_" + a + "[threadIdx.x / 32][k][threadIdx.x % 32] = " + a + "[k]; }\n";
    }
    text += "  __syncthreads();\n  if (threadIdx.x >= 32 || !is_inside) { return; }\n";
    for (const LoopStep* step : combines()) {
      const std::string a = accumulator(*step);
      text += "#pragma unroll\n  for (int k = 0; k < W; ++k) {\n    for (int y = 1; y < 8; ++y) { " + a +
              "[k] = joined(" + combination_name(*step) + "(), " + a + "[k], s_" + a + "[y][k][threadIdx.x]); }\n  }\n";
    }
    text += "  if (gridDim.y > 1) {\n    for (int k = 0; k < W; ++k) {\n";
    for (size_t k = 0; k < combines().size(); ++k) {
      text += "      " + partial_result(k, text_.accumulator_type(*combines()[k]), rows(), "gridDim.y") +
              "[(i + I(k)) * I(gridDim.y) + I(blockIdx.y)] = " + accumulator(*combines()[k]) + "[k];\n";
    }
    return text + "    }\n    return;\n  }\n";
  }

  Result<std::string> row_ends() {
    std::string text;
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (kernel_.outputs[k].per_row) {
        text += "  " + pack_type(output_tensor(k)) + " q_" + pointer_name(output_tensor(k)) + ";\n";
      }
    }
    text += "#pragma unroll\n  for (int k = 0; k < W; ++k) {\n";
    TESSIQ_ASSIGN_OR_RETURN(const std::string values, row_values("    "));
    text += values;
    TESSIQ_ASSIGN_OR_RETURN(const std::string results, combined_lines(combines(), "[k]", "    "));
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(plan_.walks.front().row_steps, "    "));
    text += results + steps;
    std::string stores;
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (kernel_.outputs[k].per_row) {
        const size_t t = output_tensor(k);
        text += "    q_" + pointer_name(t) + ".at[k] = " + text_.stored(kernel_.outputs[k]) + ";\n";
        stores += "  " + store_text(t, "at" + number(t)) + "\n";
      }
    }
    return text + "  }\n" + stores;
  }
};

// A warp a row.
class Final : private RowFunction {
 public:
  explicit Final(const LoopKernel& kernel)
      : RowFunction(kernel, Elements::kComputedAgain, Sums::kAsComputed, TextTarget::kCuda) {}

  Result<std::string> function() {
    std::string text = "template <typename I> TESSIQ_INLINE void final_rows(" + pointer_parameters(kernel_) +
                       size_parameters(sizes_.kept.parameter_count()) +
                       ", void* workspace, const I parts) {\n"
                       "  const I i = I(blockIdx.x) * 8 + I(threadIdx.x / 32);\n  if (i >= " +
                       rows() + ") { return; }\n  const I thread = I(threadIdx.x % 32);\n" + row_offsets("  ");
    text += row_inputs("  ");
    TESSIQ_ASSIGN_OR_RETURN(const std::string first, step_lines(plan_.row_steps, "  "));
    text += first;
    for (size_t k = 0; k < plan_.walks.front().combines.size(); ++k) {
      const LoopStep& step = *plan_.walks.front().combines[k];
      const std::string type = text_.accumulator_type(step);
      const std::string a = accumulator(step);
      const std::string combination = combination_name(step);
      text += fresh_accumulator(step, a, "  ") + "  const " + type + "* left" + number(k) + " = " +
              partial_result(k, type, rows(), "parts") + " + i * parts;\n" +
              "  for (I part = thread; part < parts; part += 32) { " + a + " = joined(" + combination + "(), " + a +
              ", left" + number(k) + "[part]); }\n  " + a + " = lanes_joined<" + combination + ", 32>(" + a + ");\n";
      TESSIQ_ASSIGN_OR_RETURN(const std::string line, text_.combined(step, a));
      text += "  " + line + "\n";
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(plan_.walks.front().row_steps, "  "));
    text += steps + "  if (thread == 0) {\n";
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (kernel_.outputs[k].per_row) {
        text += "    " + row_store(k) + "\n";
      }
    }
    return text + "  }\n}\n";
  }
};

}  // namespace

Result<std::string> columns_function(const LoopKernel& kernel) { return Columns(kernel).function(); }
Result<std::string> final_function(const LoopKernel& kernel) { return Final(kernel).function(); }

}  // namespace tessiq::emit
