// C++ for the reference device. Rows of the innermost axis are plain loops over restrict pointers, which the compiler
// vectorises where the operands are contiguous; outer coordinates are worked out once a row.
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
    const std::string body =
        "\nnamespace tessiq::@ {\n" + element + run_function() + "}  // namespace tessiq::@\n" + entry();
    return finished(body, {KernelVariant{.entry = "@", .threads = 0}}, TextTarget::kHost);
  }

 private:
  size_t rank() const { return sizes_.extents.size(); }

  std::string size_parameters() const {
    std::string text;
    for (int k = 0; k < sizes_.argument_count; ++k) {
      text += ", const i64 size" + std::to_string(k);
    }
    return text;
  }

  // `offset` of the innermost axis: "+ k * 3" for a stride of 3.
  std::string inner_index(size_t tensor) const {
    const std::string base = "at" + std::to_string(tensor);
    if (rank() == 0) {
      return base;
    }
    const SizeSlot& stride = sizes_.strides[tensor].back();
    if (stride.is(0)) {
      return base;
    }
    return base + (stride.is(1) ? " + k" : " + k * " + stride.text());
  }

  std::string inner_statements(const std::string& indent) const {
    std::vector<std::string> values;
    std::vector<std::string> results;
    std::string text;
    std::string stores;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      values.push_back(
          load_conversion("in" + std::to_string(t) + "[" + inner_index(t) + "]", kernel_.inputs[t].element));
    }
    for (size_t t = 0; t < kernel_.outputs.size(); ++t) {
      const std::string number = std::to_string(t);
      const ir::ElementType element = kernel_.outputs[t].element;
      text += indent + std::string(value_type_name(element)) + " r" + number + ";\n";
      stores += indent + "out" + number + "[" + inner_index(kernel_.inputs.size() + t) +
                "] = " + store_conversion("r" + number, element) + ";\n";
      results.push_back("r" + number);
    }
    return text + indent + element_call(kernel_, values, results) + "\n" + stores;
  }

  std::string base_offsets(const std::string& indent) const {
    std::string text;
    const size_t outer_axes = rank() == 0 ? 0 : rank() - 1;
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      text += indent + "const i64 at" + std::to_string(t) + " = " + offset_text(sizes_.strides[t], outer_axes, "i64") +
              ";\n";
    }
    return text;
  }

  std::string run_function() const {
    std::string text =
        "static void run(" + pointer_parameters(kernel_) + size_parameters() + ", i64 begin, i64 end) {\n";
    if (rank() < 2) {
      return text + base_offsets("  ") + "  for (i64 k = begin; k < end; ++k) {\n" + inner_statements("    ") +
             "  }\n}\n";
    }
    const std::string inner = std::to_string(rank() - 1);
    text += "  for (i64 i = begin; i < end;) {\n" + coordinate_lines(sizes_, "i64", "    ") + base_offsets("    ");
    text += "    const i64 row = " + sizes_.extents.back().text() + ";\n";
    text += "    const i64 stop = row - i" + inner + " < end - i ? row : i" + inner + " + (end - i);\n";
    text += "    for (i64 k = i" + inner + "; k < stop; ++k) {\n" + inner_statements("      ") + "    }\n";
    return text + "    i += stop - i" + inner + ";\n  }\n}\n";
  }

  std::string entry() const {
    std::vector<std::string> arguments;
    auto add_pointer = [&](const LoopTensor& tensor, std::string_view constness) {
      arguments.push_back("static_cast<" + std::string(constness) + std::string(storage_type_name(tensor.element)) +
                          "*>(pointers[" + std::to_string(arguments.size()) + "])");
    };
    for (const LoopTensor& input : kernel_.inputs) {
      add_pointer(input, "const ");
    }
    for (const LoopTensor& output : kernel_.outputs) {
      add_pointer(output, "");
    }
    for (int k = 0; k < sizes_.argument_count; ++k) {
      arguments.push_back("sizes[" + std::to_string(k) + "]");
    }
    return "extern \"C\" void @(void* const* pointers, const i64* sizes, i64 begin, i64 end) {\n  tessiq::@::run(" +
           joined(arguments, ", ") + ", begin, end);\n}\n";
  }

  const LoopKernel& kernel_;
  LoopSizes sizes_;
};

}  // namespace

Result<KernelSource> emit_host(const LoopKernel& kernel) { return HostText(kernel).build(); }

}  // namespace tessiq::emit
