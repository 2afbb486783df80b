#include "codegen/emit/loop_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <variant>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/emit/expression.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? "" : separator;
    text += part;
  }
  return text;
}

Result<std::string> element_function(const LoopKernel& kernel) {
  Identifiers identifiers;
  std::vector<std::string> parameters;
  for (const LoopTensor& input : kernel.inputs) {
    parameters.push_back("const " + std::string(value_type_name(input.element)) + " " + identifiers.of(input.name()));
  }
  for (size_t k = 0; k < kernel.outputs.size(); ++k) {
    parameters.push_back(std::string(value_type_name(kernel.outputs[k].element)) + "& r" + std::to_string(k));
  }
  for (size_t k = 0; k < kernel.positions.size(); ++k) {
    parameters.push_back("const i64 p" + std::to_string(k));
  }
  for (const int size : sizes_read_by_steps(kernel)) {
    parameters.push_back("const i64 size" + std::to_string(size));
  }
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<std::string> lines, step_lines(kernel, identifiers));
  std::string text = "TESSIQ_INLINE void element(" + joined(parameters, ", ") + ") {\n";
  for (const std::string& line : lines) {
    text += "  " + line + "\n";
  }
  for (size_t k = 0; k < kernel.outputs.size(); ++k) {
    const LoopTensor& output = kernel.outputs[k];
    const auto step = std::find_if(kernel.steps.begin(), kernel.steps.end(),
                                   [&](const LoopStep& candidate) { return candidate.value == output.value; });
    if (step == kernel.steps.end()) {
      return internal("loop " + kernel.name + " writes " + output.value + ", which no step computes");
    }
    text += "  r" + std::to_string(k) + " = " +
            value_conversion(identifiers.of(output.value), step->element, output.element) + ";\n";
  }
  return text + "}\n";
}

std::string element_call(const LoopKernel& kernel, const std::vector<std::string>& input_values,
                         const std::vector<std::string>& output_values, const std::vector<std::string>& positions) {
  std::vector<std::string> arguments = input_values;
  arguments.insert(arguments.end(), output_values.begin(), output_values.end());
  arguments.insert(arguments.end(), positions.begin(), positions.end());
  for (const int size : sizes_read_by_steps(kernel)) {
    arguments.push_back("size" + std::to_string(size));
  }
  return "element(" + joined(arguments, ", ") + ");";
}

std::string inside_text(const LoopKernel& kernel, const std::vector<LoopWindow>& windows,
                        const std::function<std::string(int)>& position) {
  const std::vector<ir::SizeExpr> arguments = kernel.size_arguments();
  std::vector<std::string> conditions;
  for (const LoopWindow& window : windows) {
    const SizeSlot begin = slot_of(window.begin, arguments);
    const std::string name = position(window.position);
    if (!begin.is(0)) {  // no position is below that
      conditions.push_back(name + " >= " + begin.text());
    }
    conditions.push_back(name + " < " + slot_of(window.end, arguments).text());
  }
  return conditions.empty() ? "true" : joined(conditions, " && ");
}

namespace {

std::string number_text(const SizeSlot& slot, std::string_view index_type) {
  return std::string(index_type) + "(" + slot.text() + ")";
}

// Multipliers follow the sizes, and are numbered on.
std::string multiplier_name(const LoopSizes& loop, const SizeSlot& divisor) {
  const auto found = std::find(loop.divisors.begin(), loop.divisors.end(), divisor.argument);
  return "size" + std::to_string(loop.argument_count + static_cast<int>(found - loop.divisors.begin()));
}

}  // namespace

std::string_view index_type_of(TextTarget target) { return target == TextTarget::kCuda ? "I" : "i64"; }

std::string coordinate_lines(const LoopSizes& loop, TextTarget target, std::string_view indent) {
  const std::string type(index_type_of(target));
  const size_t rank = loop.extents.size();
  std::string text;
  std::string rest = "i";
  for (size_t axis = rank; axis-- > 1;) {
    const std::string extent = number_text(loop.extents[axis], type);
    const std::string coordinate = "i" + std::to_string(axis);
    const std::string quotient = axis == 1 ? "i0" : "q" + std::to_string(axis);
    text += std::string(indent) + "const " + type + " " + quotient + " = " +
            (target == TextTarget::kHost || loop.extents[axis].is_constant()
                 ? rest + " / " + extent
                 : "quotient(" + rest + ", " + extent + ", " + multiplier_name(loop, loop.extents[axis]) + ")") +
            ";\n";
    text += std::string(indent) + "const " + type + " " + coordinate + " = " + rest + " - " + quotient + " * " +
            extent + ";\n";
    rest = quotient;
  }
  if (rank == 1) {
    text += std::string(indent) + "const " + type + " i0 = i;\n";
  }
  return text;
}

std::string offset_text(const std::vector<SizeSlot>& strides, size_t axes, std::string_view index_type,
                        const SizeSlot& offset) {
  std::vector<std::string> terms;
  if (!offset.is(0)) {
    terms.push_back(number_text(offset, index_type));
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    if (strides[axis].is(0)) {
      continue;
    }
    const std::string coordinate = "i" + std::to_string(axis);
    terms.push_back(strides[axis].is(1) ? coordinate : coordinate + " * " + number_text(strides[axis], index_type));
  }
  return terms.empty() ? "0" : joined(terms, " + ");
}

std::string pointer_parameters(const LoopKernel& kernel) {
  std::vector<std::string> parameters;
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    parameters.push_back("const " + std::string(storage_type_name(kernel.inputs[k].element)) + "* __restrict__ in" +
                         std::to_string(k));
  }
  for (size_t k = 0; k < kernel.outputs.size(); ++k) {
    parameters.push_back(std::string(storage_type_name(kernel.outputs[k].element)) + "* __restrict__ out" +
                         std::to_string(k));
  }
  return joined(parameters, ", ");
}

std::string size_parameters(int count) {
  std::string text;
  for (int k = 0; k < count; ++k) {
    text += ", const i64 size" + std::to_string(k);
  }
  return text;
}

std::string size_arguments(int count) {
  std::string text;
  for (int k = 0; k < count; ++k) {
    text += ", size" + std::to_string(k);
  }
  return text;
}

std::string host_range_parameters(const LoopKernel& kernel) {
  return std::string(", i64 begin, i64 end") + (kernel.looks_up() ? ", i64* fault" : "");
}

std::string host_entry(const LoopKernel& kernel, int size_count) {
  std::vector<std::string> arguments;
  auto add_pointer = [&](const LoopTensor& tensor, std::string_view constness) {
    arguments.push_back("static_cast<" + std::string(constness) + std::string(storage_type_name(tensor.element)) +
                        "*>(pointers[" + std::to_string(arguments.size()) + "])");
  };
  for (const LoopTensor& input : kernel.inputs) {
    add_pointer(input, "const ");
  }
  for (const LoopTensor& output : kernel.outputs) {
    add_pointer(output, "");
  }
  for (int k = 0; k < size_count; ++k) {
    arguments.push_back("sizes[" + std::to_string(k) + "]");
  }
  return "extern \"C\" void @(void* const* pointers, const i64* sizes, i64 begin, i64 end, i64* fault) {\n"
         "  tessiq::@::run(" +
         joined(arguments, ", ") + ", begin, end" + (kernel.looks_up() ? ", fault" : "") + ");\n}\n";
}

KernelSource finished(std::string body, std::vector<KernelVariant> variants, TextTarget target) {
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "loop_%016llx",
                static_cast<unsigned long long>(XXH3_64bits(body.data(), body.size())));
  auto named = [&](const std::string& text) {
    std::string result;
    for (const char c : text) {
      c == kNamePlaceholder ? result += name.data() : result += c;
    }
    return result;
  };
  KernelSource source;
  source.body = named(body);
  source.text = prelude_for(source.body, target) + source.body;
  for (KernelVariant& variant : variants) {
    variant.entry = named(variant.entry);
    source.variants.push_back(std::move(variant));
  }
  return source;
}

namespace {

std::string joined_text(std::span<const std::string> bodies, TextTarget target) {
  std::string all;
  for (const std::string& body : bodies) {
    all += body;
  }
  return prelude_for(all, target) + all;
}

}  // namespace

std::string joined_cuda(std::span<const std::string> bodies) { return joined_text(bodies, TextTarget::kCuda); }
std::string joined_host(std::span<const std::string> bodies) { return joined_text(bodies, TextTarget::kHost); }

LoopKernel with_positional_names(const LoopKernel& kernel) {
  LoopKernel result = kernel;
  result.name = "loop";
  std::map<std::string, std::string> names;
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    names[kernel.inputs[k].name()] = "in" + std::to_string(k);
  }
  for (size_t k = 0; k < kernel.steps.size(); ++k) {
    names[kernel.steps[k].value] = "step" + std::to_string(k);
  }
  auto rename = [&](std::string& value) {
    const auto found = names.find(value);
    value = found == names.end() ? value : found->second;  // an unknown name is reported where it is read
  };
  for (LoopTensor& input : result.inputs) {
    input.value = input.name();
    input.read_as.clear();
    rename(input.value);
  }
  for (LoopTensor& output : result.outputs) {
    rename(output.value);
  }
  for (LoopStep& step : result.steps) {
    rename(step.value);
    for (LoopArgument& argument : step.arguments) {
      if (auto* read = std::get_if<LoopRead>(&argument)) {
        rename(read->value);
      }
    }
  }
  return result;
}

}  // namespace tessiq::emit
