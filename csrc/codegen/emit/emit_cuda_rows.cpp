// A reduction in CUDA, threads sharing a row. Where a row fits, its elements stay in registers between the walks, so
// that memory is read once; else each walk reads them again. All loads of a thread stand before its first arithmetic.
// Where one walk is all there is, several blocks may share a row: each leaves what it combined in the workspace.
#include <algorithm>
#include <set>

#include "codegen/emit/cuda_columns.h"
#include "codegen/emit/cuda_row_variants.h"
#include "codegen/emit/emitters.h"
#include "codegen/emit/loop_text.h"
#include "codegen/emit/row_function.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

// One function template over index type, threads a row, units a thread and vector width.
class CudaRows : private RowFunction {
 public:
  CudaRows(const LoopKernel& kernel, RowForm form)
      : RowFunction(kernel, form == RowForm::kKept ? Elements::kKept : Elements::kComputedAgain, Sums::kAsComputed,
                    TextTarget::kCuda),
        form_(form) {}

  Result<std::string> function() {
    std::string text = "template <typename I, int T, int U, int W> TESSIQ_INLINE void " +
                       std::string(row_form_name(form_)) + "_rows(" + pointer_parameters(kernel_) +
                       size_parameters(sizes_.kept.parameter_count()) + ", void* workspace) {\n" +
                       "  const I i = I(blockIdx.x) * I(blockDim.x / T) + I(threadIdx.x / T);\n  if (i >= " + rows() +
                       ") { return; }\n  const I thread = I(threadIdx.x % T);\n  const I length = " +
                       product_text(sizes_.reduced.extents, "I") + ";\n" + part_of_row() + row_offsets("  ") +
                       row_inputs("  ");
    text += arrays() + staging();
    TESSIQ_ASSIGN_OR_RETURN(const std::string first, step_lines(plan_.row_steps, "  "));
    text += first;
    for (size_t walk = 0; walk < plan_.walks.size(); ++walk) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string lines, walk_lines(walk));
      text += lines;
    }
    return text + row_stores() + "}\n";
  }

 private:
  static constexpr const char* kPlace = "base + (I(u * T) + thread) * W";

  // Long rows are added up by each element of a vector apart, which makes for shorter chains.
  std::string lanes(const LoopStep& step) { return "l_" + text_.name(step.value); }
  std::string kept(const LoopStep& step) { return "k_" + text_.name(step.value); }
  bool keeps_input(size_t input) const { return form_ == RowForm::kKept && plan_.walks_reading(input) > 1; }
  bool stages_input(size_t input) const { return form_ == RowForm::kStaged && plan_.walks_reading(input) > 1; }

  bool splits() const { return plan_.walks.size() == 1; }

  std::string part_of_row() const {
    if (!splits()) {
      return "  const I begin = 0;\n  const I end = length;\n";
    }
    return "  const I pass = I(T * U * W);\n"
           "  const I part = (length + pass * I(gridDim.y) - 1) / (pass * I(gridDim.y)) * pass;\n"
           "  const I begin = I(blockIdx.y) * part;\n"
           "  const I end = begin + part < length ? begin + part : length;\n";
  }

  // What lives from one walk to the next.
  std::string arrays() {
    std::string text;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      if (keeps_input(t)) {
        text += "  " + pack_type(t) + " p_in" + number(t) + "[U];\n";
      }
    }
    for (const RowWalk& walk : plan_.walks) {
      for (const LoopStep* step : walk.keeps) {
        text += "  " + std::string(value_type_name(step->element)) + " " + kept(*step) + "[U][W];\n";
      }
    }
    return text;
  }

  // Each thread finds again only what it put there, so nobody waits.
  std::string staging() const {
    std::string text;
    std::string before;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      if (!stages_input(t)) {
        continue;
      }
      text += text.empty() ? "  extern __shared__ __align__(16) u8 shared[];\n" : "";
      text += "  " + pack_type(t) + "* const staged" + number(t) + " = reinterpret_cast<" + pack_type(t) + "*>(shared" +
              before + ");\n";
      before += " + (i64(length) * " + std::to_string(ir::element_size(tensor(t).element)) + " + 15) / 16 * 16";
    }
    return text;
  }

  std::string row_stores() {
    std::string text;
    for (size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (kernel_.outputs[k].per_row) {
        text += "  if (thread == 0) { " + row_store(k) + " }\n";
      }
    }
    return text;
  }

  Result<std::string> walk_lines(size_t index) {
    const RowWalk& walk = plan_.walks[index];
    std::string text;
    for (const LoopStep* step : walk.combines) {
      text += fresh_accumulator(*step, accumulator(*step), "  ");
      if (splits()) {
        text += fresh_accumulators(*step, lanes(*step), "  ");
      }
    }
    if (!walk.combines.empty() || !walk.outputs.empty()) {
      for (const std::string& line : text_.reciprocals(walk.steps)) {
        text += "  " + line + "\n";
      }
      TESSIQ_ASSIGN_OR_RETURN(const std::string elements, element_loop(index));
      const bool loops = form_ != RowForm::kKept;
      text += loops ? "  for (I base = begin; base < end; base += I(T * U * W)) {\n" + elements + "  }\n"
                    : "  {\n    const I base = 0;\n" + elements + "  }\n";
    }
    for (const LoopStep* step : walk.combines) {
      if (splits()) {
        const std::string a = accumulator(*step);
        text += "#pragma unroll\n  for (int k = 0; k < W; ++k) { " + a + " = joined(" + combination_name(*step) +
                "(), " + a + ", " + lanes(*step) + "[k]); }\n";
      }
      const std::string shared = "s_" + accumulator(*step);
      const std::string type = text_.accumulator_type(*step);
      text += "  __shared__ " + type + " " + shared + "[(T + 31) / 32];\n  " + accumulator(*step) + " = row_joined<" +
              combination_name(*step) + ", T>(" + accumulator(*step) + ", " + shared + ");\n";
    }
    if (splits()) {
      text += "  if (gridDim.y > 1) {\n    if (thread == 0) {\n";
      for (size_t k = 0; k < walk.combines.size(); ++k) {
        text += "      " + partial_result(k, text_.accumulator_type(*walk.combines[k]), rows(), "gridDim.y") +
                "[i * I(gridDim.y) + I(blockIdx.y)] = " + accumulator(*walk.combines[k]) + ";\n";
      }
      text += "    }\n    return;\n  }\n";
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string results, combined_lines(walk.combines, "", "  "));
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(walk.row_steps, "  "));
    return text + results + steps;
  }

  std::string load_text(size_t t) const {
    const SizeSlot& stride = sizes_.reduced.strides[t].back();
    const std::string from = pointer_name(t) + " + from" + number(t);
    if (stride.is(1)) {
      return "load<W>(" + from + ")";
    }
    return stride.is(0) ? "broadcast<W>(" + from + ")" : "gather<W>(" + from + ", I(" + stride.text() + "))";
  }
  std::string store_text(size_t t) const {
    const SizeSlot& stride = sizes_.reduced.strides[t].back();
    const std::string to = pointer_name(t) + " + from" + number(t);
    if (stride.is(1)) {
      return "store(" + to + ", q_" + pointer_name(t) + ");";
    }
    return "scatter(" + to + ", I(" + stride.text() + "), q_" + pointer_name(t) + ");";
  }
  bool read_before(size_t input, size_t walk) const {
    return std::any_of(plan_.walks.begin(), plan_.walks.begin() + static_cast<std::ptrdiff_t>(walk),
                       [&](const RowWalk& earlier) {
                         return std::find(earlier.inputs.begin(), earlier.inputs.end(), input) != earlier.inputs.end();
                       });
  }

  Result<std::string> element_loop(size_t index) {
    const RowWalk& walk = plan_.walks[index];
    std::vector<size_t> loads;
    std::string text;
    std::string found;
    std::string staged;
    for (const size_t input : walk.inputs) {
      const std::string pack = "p_in" + number(input) + "[u]";
      const std::string place = "staged" + number(input) + "[j / W]";
      if (!keeps_input(input)) {
        text += "    " + pack_type(input) + " p_in" + number(input) + "[U];\n";
      }
      if (!read_before(input, index) || (!keeps_input(input) && !stages_input(input))) {
        loads.push_back(input);
        staged += stages_input(input) ? "        " + place + " = " + pack + ";\n" : "";
      } else if (stages_input(input)) {
        found += "        " + pack + " = " + place + ";\n";
      }
    }
    if (!loads.empty() || !found.empty()) {
      std::string body = found + (loads.empty() ? std::string() : element_offsets(loads));
      for (const size_t input : loads) {
        body += "        p_in" + number(input) + "[u] = " + load_text(input) + ";\n";
      }
      text += for_each_unit(kPlace, body);
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string lines, element_body(walk));
    const std::string body = staged + lines;
    return text + for_each_unit(kPlace, body);
  }

  Result<std::string> element_body(const RowWalk& walk) {
    std::vector<size_t> written;
    std::string text;
    for (const size_t output : walk.outputs) {
      written.push_back(output_tensor(output));
      text += "        " + pack_type(written.back()) + " q_" + pointer_name(written.back()) + ";\n";
    }
    text += "#pragma unroll\n        for (int k = 0; k < W; ++k) {\n";
    const std::string indent = "          ";
    for (const size_t input : walk.inputs) {
      text += indent + text_.read_input(kernel_.inputs[input], "p_in" + number(input) + "[u].at[k]") + "\n";
    }
    for (const LoopStep* step : walk.reads) {
      text += indent + text_.read_kept(*step, kept(*step) + "[u][k]") + "\n";
    }
    TESSIQ_ASSIGN_OR_RETURN(const std::string steps, step_lines(walk.steps, indent));
    text += steps;
    for (const LoopStep* step : walk.keeps) {
      text += indent + kept(*step) + "[u][k] = " + text_.name(step->value) + ";\n";
    }
    for (const LoopStep* step : walk.combines) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string line,
                              text_.join(*step, splits() ? lanes(*step) + "[k]" : accumulator(*step), "j + I(k)"));
      text += indent + line + "\n";
    }
    for (const size_t output : walk.outputs) {
      text += indent + "q_" + pointer_name(output_tensor(output)) +
              ".at[k] = " + text_.stored(kernel_.outputs[output]) + ";\n";
    }
    text += "        }\n";
    if (!written.empty()) {
      text += element_offsets(written);
      for (const size_t t : written) {
        text += "        " + store_text(t) + "\n";
      }
    }
    return text;
  }

  RowForm form_;
};

std::string entry(const LoopKernel& kernel, const KernelVariant& variant, const RowVariant& row, int size_count) {
  const std::string number_32 = variant.index_32bit ? "u32" : "u64";
  std::string function;
  switch (row.form) {
    case RowForm::kKept:
    case RowForm::kStaged:
    case RowForm::kWalked:
      function = std::string(row_form_name(row.form)) + "_rows<" + number_32 + ", " + std::to_string(row.threads) +
                 ", " + std::to_string(row.units) + ", " + std::to_string(variant.vector_width) + ">(";
      break;
    case RowForm::kColumns:
      function = "columns<" + number_32 + ", " + std::to_string(row.units) + ", " +
                 std::to_string(variant.vector_width) + ">(";
      break;
    case RowForm::kFinal:
      function = "final_rows<" + number_32 + ">(";
      break;
  }
  std::vector<std::string> arguments;
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    arguments.push_back("in" + std::to_string(k));
  }
  for (size_t k = 0; k < kernel.outputs.size(); ++k) {
    arguments.push_back("out" + std::to_string(k));
  }
  // Left to itself the compiler takes registers enough for one block or two, and loads of other rows wait.
  const bool keeps_in_warps = row.form == RowForm::kKept && variant.rows_per_block > 1;
  const std::string parts = row.form == RowForm::kFinal ? ", const i64 parts" : "";
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(variant.threads) +
         (keeps_in_warps ? ", 3) " : ") ") + variant.entry + "(" + pointer_parameters(kernel) +
         size_parameters(size_count) + ", const i64 n, void* workspace" + parts + ") { tessiq::@::" + function +
         joined(arguments, ", ") + size_arguments(size_count) + ", workspace" +
         (parts.empty() ? "" : ", " + number_32 + "(parts)") + "); }\n";
}

Result<std::string> row_function(const LoopKernel& kernel, RowForm form) {
  switch (form) {
    case RowForm::kKept:
    case RowForm::kStaged:
    case RowForm::kWalked:
      return CudaRows(kernel, form).function();
    case RowForm::kColumns:
      return columns_function(kernel);
    case RowForm::kFinal:
      return final_function(kernel);
  }
  return internal("a form of a reduction that is not written");
}

}  // namespace

std::string partial_result(size_t combine, const std::string& type, const std::string& rows, const std::string& parts) {
  // 16 bytes hold any of them.
  return "reinterpret_cast<" + type + "*>(static_cast<u8*>(workspace) + " + std::to_string(combine * 16) + " * i64(" +
         rows + ") * i64(" + parts + "))";
}

Result<KernelSource> emit_cuda_rows(const LoopKernel& kernel) {
  const int size_count = LoopSizes::of(kernel).parameter_count();
  std::vector<KernelVariant> variants;
  std::string entries;
  std::string functions;
  std::set<RowForm> written;
  for (const RowVariant& row : row_variants(kernel)) {
    variants.push_back(kernel_variant(row));
    entries += entry(kernel, variants.back(), row, size_count);
    if (written.insert(row.form).second) {
      TESSIQ_ASSIGN_OR_RETURN(const std::string function, row_function(kernel, row.form));
      functions += function;
    }
  }
  return finished("\nnamespace tessiq::@ {\n" + functions + "}  // namespace tessiq::@\n" + entries, variants,
                  TextTarget::kCuda);
}

}  // namespace tessiq::emit
