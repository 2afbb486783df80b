// CUDA for NVRTC. A thread computes runs of neighbouring elements: as many as 16 bytes of the widest contiguous operand
// hold, which is what one load instruction moves. All loads of a thread stand before its first arithmetic, so that they
// are in flight together; the last threads of the grid go element by element.
#include <algorithm>
#include <limits>
#include <optional>

#include "codegen/emit/cuda_tiles.h"
#include "codegen/emit/emitters.h"
#include "codegen/emit/lookup_text.h"
#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

constexpr int kThreads = 256;
constexpr int kVectorBytes = 16;
constexpr int64_t kIndexLimit = std::numeric_limits<int32_t>::max();

class CudaText {
 public:
  explicit CudaText(const LoopKernel& kernel) : kernel_(kernel), sizes_(LoopSizes::of(kernel)) {}

  Result<KernelSource> build() {
    TESSIQ_ASSIGN_OR_RETURN(const std::string element, element_function(kernel_));
    const bool fits = !sizes_.all_constant || largest_offset(sizes_, {}) <= kIndexLimit;
    TESSIQ_ASSIGN_OR_RETURN(const std::optional<TiledLoop> tiled, tiled_loop(kernel_));
    const bool is_tiled = tiled.has_value() && fits;
    if (is_tiled) {
      variants_ = tiled->variants;
    }
    choose_variants(fits);
    std::string body = "\nnamespace tessiq::@ {\n" + locate_function() + element + run_function() +
                       (is_tiled ? tiled->function : "") + "}  // namespace tessiq::@\n";
    for (const KernelVariant& variant : variants_) {
      body += entry(variant);
    }
    return finished(std::move(body), variants_, TextTarget::kCuda);
  }

 private:
  size_t rank() const { return sizes_.extents.size(); }
  size_t tensor_count() const { return sizes_.strides.size(); }
  bool is_input(size_t tensor) const { return tensor < kernel_.inputs.size(); }
  const LoopTensor& tensor(size_t index) const {
    return is_input(index) ? kernel_.inputs[index] : kernel_.outputs[index - kernel_.inputs.size()];
  }
  std::string tensor_name(size_t index) const {
    return is_input(index) ? "in" + std::to_string(index) : "out" + std::to_string(index - kernel_.inputs.size());
  }
  bool has_inner_stride(size_t tensor, int64_t stride) const {
    return rank() == 0 ? stride == 0 : sizes_.strides[tensor].back().is(stride);
  }

  // Whether each element of a vector is looked up by itself.
  bool is_looked_up_apart(size_t t) const { return rank() > 0 && sizes_.looks_up_along(t, rank() - 1); }
  bool looks_up(size_t t) const { return !sizes_.lookups[t].empty(); }

  // As many elements as the widest contiguous operand has in 16 bytes, fewer where known extents or strides do not
  // divide by it; 1 where an output is not contiguous, as nothing is gained then.
  int vector_width() const {
    int64_t widest = 0;
    for (size_t t = 0; t < tensor_count(); ++t) {
      if (is_looked_up_apart(t)) {
        continue;
      }
      if (has_inner_stride(t, 1)) {
        widest = std::max<int64_t>(widest, ir::element_size(tensor(t).element));
      } else if (!is_input(t)) {
        return 1;
      }
    }
    int64_t width = kVectorBytes / std::max<int64_t>(widest, 1);
    auto divide = [&](const SizeSlot& size) { width = width_dividing(size, width); };
    for (size_t t = 0; t < tensor_count() && rank() > 0; ++t) {
      const std::vector<SizeSlot>& strides = sizes_.strides[t];
      if (has_inner_stride(t, 1) && !is_looked_up_apart(t)) {
        std::for_each(strides.begin(), strides.end() - 1, divide);
        divide(sizes_.offsets[t]);
        std::for_each(sizes_.lookups[t].begin(), sizes_.lookups[t].end(),
                      [&](const LookupSizes& lookup) { divide(lookup.stride); });
      }
    }
    std::for_each(sizes_.inner_bounds.begin(), sizes_.inner_bounds.end(), divide);
    if (rank() > 1) {
      divide(sizes_.extents.back());
    }
    return static_cast<int>(width);
  }

  // Three loads of 16 bytes a thread fill the memory system by themselves; a loop with one input needs two of them.
  int units_of(int width) const {
    if (width == 1) {
      return 4;
    }
    int64_t loaded = 0;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      loaded += has_inner_stride(t, 0) ? 0 : int64_t{width} * ir::element_size(tensor(t).element);
    }
    return loaded > kVectorBytes || loaded == 0 ? 1 : 2;
  }

  void add_variant(int width, bool index_32bit) {
    KernelVariant variant;
    variant.entry = "@_x" + std::to_string(width) + (index_32bit ? "" : "_long");
    variant.vector_width = width;
    // A single axis ends where the loop ends, which the element-by-element path takes care of.
    variant.inner_multiple = rank() > 1 ? width : 1;
    variant.elements_per_thread = width * units_of(width);
    variant.threads = kThreads;
    variant.index_32bit = index_32bit;
    variants_.push_back(std::move(variant));
  }

  void choose_variants(bool fits) {
    const int width = vector_width();
    if (width > 1) {
      add_variant(width, fits);
    }
    add_variant(1, fits);
    if (fits && !sizes_.all_constant) {
      add_variant(1, false);
    }
  }

  std::string locate_function() const {
    std::vector<std::string> names;
    std::vector<std::string> offsets;
    for (size_t t = 0; t < tensor_count(); ++t) {
      names.push_back(tensor_name(t));
      offsets.push_back(offset_text(sizes_.strides[t], rank(), "I", sizes_.offsets[t]));
    }
    for (size_t p = 0; p < sizes_.positions.size(); ++p) {
      names.push_back("p" + std::to_string(p));
      offsets.push_back(offset_text(sizes_.positions[p], rank(), "I"));
    }
    return "template <typename I> struct place { I " + joined(names, ", ") +
           "; };\ntemplate <typename I> TESSIQ_INLINE place<I> locate(const I i" +
           size_parameters(sizes_.parameter_count()) + ") {\n" + coordinate_lines(sizes_, TextTarget::kCuda, "  ") +
           "  return {" + joined(offsets, ", ") + "};\n}\n";
  }

  // The position of element k of a vector at `place`.
  std::string position_text(int position, const std::string& place, bool of_vector) const {
    const std::vector<SizeSlot>& strides = sizes_.positions[static_cast<size_t>(position)];
    const bool steps = of_vector && !strides.empty() && !strides.back().is(0);
    return "i64(" + place + ".p" + std::to_string(position) + (steps ? " + I(k))" : ")");
  }

  std::vector<std::string> position_texts(const std::string& place, bool of_vector) const {
    std::vector<std::string> texts;
    for (size_t p = 0; p < kernel_.positions.size(); ++p) {
      texts.push_back(position_text(static_cast<int>(p), place, of_vector));
    }
    return texts;
  }

  // Under which an input is read at all; "" for always.
  std::string guard(size_t t, const std::string& place) const {
    auto position = [&](int p) { return position_text(p, place, false); };
    return !is_input(t) || tensor(t).windows.empty() ? "" : inside_text(kernel_, tensor(t).windows, position);
  }

  // "(p0 < 4 ? read : otherwise)" for an input with windows, else `read`.
  std::string guarded(size_t t, const std::string& place, const std::string& read, const std::string& otherwise) const {
    const std::string condition = guard(t, place);
    return condition.empty() ? read : "(" + condition + " ? " + read + " : " + otherwise + ")";
  }

  std::string zero(size_t t) const { return std::string(storage_type_name(tensor(t).element)) + "(0)"; }

  // One element: "in2[at.in2 + l2_0 * I(64)]", guarded.
  std::string element_text(size_t t, const std::string& place, const std::string& more = "") const {
    const std::string name = tensor_name(t);
    return guarded(t, place, name + "[" + place + "." + name + more + lookup_terms(sizes_, t, TextTarget::kCuda) + "]",
                   zero(t));
  }

  // Statements that fill a vector of what is looked up, from vectors of positions.
  std::string looked_up_load(size_t t) const {
    auto lines = [&](const std::string& indent, const std::string& element) {
      auto held = [&](int k) { return "p_in" + std::to_string(k) + "[u].at[" + element + "]"; };
      return lookup_lines(sizes_, t, TextTarget::kCuda, indent, {guard(t, "at[u]"), held});
    };
    const std::string pack = "p_" + tensor_name(t) + "[u]";
    if (!is_looked_up_apart(t)) {
      return lines("      ", "0") + "      " + pack + " = " + load_text(t) + ";\n";
    }
    const SizeSlot& stride = sizes_.strides[t].back();
    const std::string more = stride.is(0) ? "" : " + I(k) * I(" + stride.text() + ")";
    return "#pragma unroll\n      for (int k = 0; k < W; ++k) {\n" + lines("        ", "k") + "        " + pack +
           ".at[k] = " + element_text(t, "at[u]", more) + ";\n      }\n";
  }

  // All elements of a vector are on one side of every window.
  std::string load_text(size_t t) const {
    return guarded(t, "at[u]", unguarded_load_text(t),
                   "pack<" + std::string(storage_type_name(tensor(t).element)) + ", W>{}");
  }

  std::string unguarded_load_text(size_t t) const {
    const std::string name = tensor_name(t);
    const std::string from = name + " + at[u]." + name + lookup_terms(sizes_, t, TextTarget::kCuda);
    if (has_inner_stride(t, 1)) {
      return "load<W>(" + from + ")";
    }
    if (has_inner_stride(t, 0)) {
      return "broadcast<W>(" + from + ")";
    }
    // An axis that is walked backwards, if one is, has an offset.
    const std::string type = sizes_.offsets[t].is(0) ? "I" : "i64";
    return "gather<W>(" + from + ", " + type + "(" + sizes_.strides[t].back().text() + "))";
  }

  std::string store_text(size_t t, const std::string& values) const {
    const std::string name = tensor_name(t);
    const std::string to = name + " + at[u]." + name;
    if (has_inner_stride(t, 1) || rank() == 0) {
      return "store(" + to + ", " + values + ");";
    }
    return "scatter(" + to + ", I(" + sizes_.strides[t].back().text() + "), " + values + ");";
  }

  // One call of element() with values read and results written as `read` and `write` spell them.
  template <typename Read, typename Write>
  std::string element_statements(const std::string& indent, Read read, Write write,
                                 const std::vector<std::string>& positions) const {
    std::vector<std::string> values;
    std::vector<std::string> results;
    std::string declarations;
    std::string stores;
    for (size_t t = 0; t < tensor_count(); ++t) {
      const ir::ElementType element = tensor(t).element;
      if (is_input(t)) {
        values.push_back(load_conversion(read(t), element));
        continue;
      }
      results.push_back("r" + std::to_string(t - kernel_.inputs.size()));
      declarations += indent + std::string(value_type_name(element)) + " " + results.back() + ";\n";
      stores += indent + write(t) + " = " + store_conversion(results.back(), element) + ";\n";
    }
    return declarations + indent + element_call(kernel_, values, results, positions) + "\n" + stores;
  }

  std::string vector_path() const {
    const std::string threads = std::to_string(kThreads);
    std::string arrays = "    place<I> at[U];\n";
    std::string loads = "      at[u] = locate<I>(first + I(u * " + threads + " * W)" +
                        size_arguments(sizes_.parameter_count()) + ");\n";
    std::string packs;
    std::string stores;
    auto packed = [&](size_t t) {
      return "pack<" + std::string(storage_type_name(tensor(t).element)) + ", W> p_" + tensor_name(t);
    };
    for (size_t t = 0; t < tensor_count(); ++t) {
      if (is_input(t)) {
        arrays += "    " + packed(t) + "[U];\n";
        // Positions are an earlier input.
        loads += looks_up(t) ? looked_up_load(t) : "      p_" + tensor_name(t) + "[u] = " + load_text(t) + ";\n";
      } else {
        packs += "      " + packed(t) + ";\n";
        stores += "      " + store_text(t, "p_" + tensor_name(t)) + "\n";
      }
    }
    const std::string unrolled = "#pragma unroll\n    for (int u = 0; u < U; ++u) {\n";
    std::string text = arrays + unrolled + loads + "    }\n" + unrolled + packs;
    text += "#pragma unroll\n      for (int k = 0; k < W; ++k) {\n";
    text += element_statements(
        "        ", [&](size_t t) { return "p_" + tensor_name(t) + "[u].at[k]"; },
        [&](size_t t) { return "p_" + tensor_name(t) + ".at[k]"; }, position_texts("at[u]", true));
    return text + "      }\n" + stores + "    }\n    return;\n";
  }

  std::string run_function() const {
    const std::string threads = std::to_string(kThreads);
    std::string text = "template <typename I, int W, int U>\nTESSIQ_INLINE void run(" + pointer_parameters(kernel_) +
                       size_parameters(sizes_.parameter_count()) + ", const I n) {\n";
    // Unit u of a thread lies a block's width behind unit u - 1, so that neighbouring threads stay side by side.
    text += "  const I first = I(blockIdx.x) * I(" + threads + " * U * W) + I(threadIdx.x) * I(W);\n";
    text += "  if (first + I((U - 1) * " + threads + " * W + W) <= n) {\n" + vector_path() + "  }\n";
    text += "#pragma unroll 1\n  for (int k = 0; k < U * W; ++k) {\n";
    text += "    const I i = first + I(k / W * " + threads + " * W + k % W);\n    if (i < n) {\n";
    text += "      const place<I> at = locate<I>(i" + size_arguments(sizes_.parameter_count()) + ");\n";
    auto element = [&](size_t t) { return element_text(t, "at"); };
    auto held = [&](int k) { return element(static_cast<size_t>(k)); };
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      text += lookup_lines(sizes_, t, TextTarget::kCuda, "      ", {guard(t, "at"), held});
    }
    return text + element_statements("      ", element, element, position_texts("at", false)) + "    }\n  }\n}\n";
  }

  std::string entry(const KernelVariant& variant) const {
    std::string arguments;
    for (size_t t = 0; t < tensor_count(); ++t) {
      arguments += tensor_name(t) + (t + 1 < tensor_count() ? ", " : "");
    }
    const std::string index = variant.index_32bit ? "u32" : "u64";
    const std::string width = std::to_string(variant.vector_width);
    if (variant.tile > 0) {
      return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(variant.threads) + ") " +
             variant.entry + "(" + pointer_parameters(kernel_) + size_parameters(sizes_.parameter_count()) +
             ", const i64 n) { tessiq::@::tiles<" + index + ", " + width + ">(" + arguments +
             size_arguments(sizes_.parameter_count()) + "); }\n";
    }
    const std::string units = std::to_string(variant.elements_per_thread / variant.vector_width);
    return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(variant.threads) + ") " + variant.entry +
           "(" + pointer_parameters(kernel_) + size_parameters(sizes_.parameter_count()) +
           ", const i64 n) { tessiq::@::run<" + index + ", " + width + ", " + units + ">(" + arguments +
           size_arguments(sizes_.parameter_count()) + ", " + index + "(n)); }\n";
  }

  const LoopKernel& kernel_;
  LoopSizes sizes_;
  std::vector<KernelVariant> variants_;
};

}  // namespace

Result<KernelSource> emit_cuda(const LoopKernel& kernel) {
  return kernel.is_reduction() ? emit_cuda_rows(kernel) : CudaText(kernel).build();
}

}  // namespace tessiq::emit
