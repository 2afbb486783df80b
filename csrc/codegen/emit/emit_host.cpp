// C++ for the reference device. Rows of the innermost axis are plain loops over restrict pointers, which the compiler
// vectorises where the operands are contiguous; outer coordinates are worked out once a row.
#include "codegen/emit/emitters.h"
#include "codegen/emit/lookup_text.h"
#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

class HostText {
 public:
  explicit HostText(const LoopKernel& kernel) : kernel_(kernel), sizes_(LoopSizes::of(kernel)) {}

  Result<KernelSource> build() {
    TESSIQ_ASSIGN_OR_RETURN(const std::string element, element_function(kernel_));
    const std::string body = "\nnamespace tessiq::@ {\n" + element + run_function() + "}  // namespace tessiq::@\n" +
                             host_entry(kernel_, sizes_.argument_count);
    return finished(body, {KernelVariant{.entry = "@", .threads = 0}}, TextTarget::kHost);
  }

 private:
  size_t rank() const { return sizes_.extents.size(); }

  static std::string position_name(size_t position) { return "p" + std::to_string(position); }

  std::string inner_index(size_t tensor) const {
    return inner_index("at" + std::to_string(tensor), sizes_.strides[tensor]);
  }

  // `base` and what the innermost axis adds: "+ k * 3" for a stride of 3.
  std::string inner_index(const std::string& base, const std::vector<SizeSlot>& strides) const {
    if (rank() == 0) {
      return base;
    }
    const SizeSlot& stride = strides.back();
    if (stride.is(0)) {
      return base;
    }
    return base + (stride.is(1) ? " + k" : " + k * " + stride.text());
  }

  // Where a whole row looks up the same, once a row is enough.
  bool looks_up_once_a_row(size_t t) const {
    const bool varies = rank() > 0 && sizes_.looks_up_along(t, rank() - 1);
    return !varies && kernel_.inputs[t].windows.empty();
  }

  // Under which an input is read at all; "" for always.
  std::string guard(size_t t) const {
    auto position = [&](int p) { return position_name(static_cast<size_t>(p)); };
    const std::vector<LoopWindow>& windows = kernel_.inputs[t].windows;
    return windows.empty() ? "" : inside_text(kernel_, windows, position);
  }

  // Nothing is added to what was looked up for the row.
  std::string read(size_t t) const {
    const std::string looked_up = looks_up_once_a_row(t) ? "" : lookup_terms(sizes_, t, TextTarget::kHost);
    const std::string read = "in" + std::to_string(t) + "[" + inner_index(t) + looked_up + "]";
    const std::string zero = std::string(storage_type_name(kernel_.inputs[t].element)) + "(0)";
    return guard(t).empty() ? read : "(" + guard(t) + " ? " + read + " : " + zero + ")";
  }

  std::string inner_statements(const std::string& indent) const {
    std::vector<std::string> values;
    std::vector<std::string> results;
    std::string text;
    std::string stores;
    std::vector<std::string> positions;
    for (size_t p = 0; p < sizes_.positions.size(); ++p) {
      text += indent + "const i64 " + position_name(p) + " = " +
              inner_index("base" + std::to_string(p), sizes_.positions[p]) + ";\n";
      positions.push_back(position_name(p));
    }
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      if (!looks_up_once_a_row(t)) {
        auto held = [&](int k) { return read(static_cast<size_t>(k)); };
        text += lookup_lines(sizes_, t, TextTarget::kHost, indent, {guard(t), held});
      }
      values.push_back(load_conversion(read(t), kernel_.inputs[t].element));
    }
    for (size_t t = 0; t < kernel_.outputs.size(); ++t) {
      const std::string number = std::to_string(t);
      const ir::ElementType element = kernel_.outputs[t].element;
      text += indent + std::string(value_type_name(element)) + " r" + number + ";\n";
      stores += indent + "out" + number + "[" + inner_index(kernel_.inputs.size() + t) +
                "] = " + store_conversion("r" + number, element) + ";\n";
      results.push_back("r" + number);
    }
    return text + indent + element_call(kernel_, values, results, positions) + "\n" + stores;
  }

  std::string base_offsets(const std::string& indent) const {
    std::string text;
    const size_t outer_axes = rank() == 0 ? 0 : rank() - 1;
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      std::string looked_up;
      if (t < kernel_.inputs.size() && looks_up_once_a_row(t)) {
        // The positions are an earlier input.
        auto held = [](int k) { return "in" + std::to_string(k) + "[at" + std::to_string(k) + "]"; };
        text += lookup_lines(sizes_, t, TextTarget::kHost, indent, {"", held});
        looked_up = lookup_terms(sizes_, t, TextTarget::kHost);
      }
      text += indent + "const i64 at" + std::to_string(t) + " = " +
              offset_text(sizes_.strides[t], outer_axes, "i64", sizes_.offsets[t]) + looked_up + ";\n";
    }
    for (size_t p = 0; p < sizes_.positions.size(); ++p) {
      text += indent + "const i64 base" + std::to_string(p) + " = " +
              offset_text(sizes_.positions[p], outer_axes, "i64") + ";\n";
    }
    return text;
  }

  std::string run_function() const {
    std::string text = "static void run(" + pointer_parameters(kernel_) + size_parameters(sizes_.argument_count) +
                       host_range_parameters(kernel_) + ") {\n";
    if (rank() < 2) {
      return text + base_offsets("  ") + "  for (i64 k = begin; k < end; ++k) {\n" + inner_statements("    ") +
             "  }\n}\n";
    }
    const std::string inner = std::to_string(rank() - 1);
    text += "  for (i64 i = begin; i < end;) {\n" + coordinate_lines(sizes_, TextTarget::kHost, "    ") +
            base_offsets("    ");
    text += "    const i64 row = " + sizes_.extents.back().text() + ";\n";
    text += "    const i64 stop = row - i" + inner + " < end - i ? row : i" + inner + " + (end - i);\n";
    text += "    for (i64 k = i" + inner + "; k < stop; ++k) {\n" + inner_statements("      ") + "    }\n";
    return text + "    i += stop - i" + inner + ";\n  }\n}\n";
  }

  const LoopKernel& kernel_;
  LoopSizes sizes_;
};

}  // namespace

Result<KernelSource> emit_host(const LoopKernel& kernel) {
  return kernel.is_reduction() ? emit_host_rows(kernel) : HostText(kernel).build();
}

}  // namespace tessiq::emit
