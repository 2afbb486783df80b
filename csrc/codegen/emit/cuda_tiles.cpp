#include "codegen/emit/cuda_tiles.h"

#include <algorithm>
#include <vector>

#include "codegen/emit/loop_text.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {
namespace {

constexpr int kTile = 64;  // elements along both axes
constexpr int kThreads = 256;
constexpr int64_t kMostShared = 40000;  // bytes of tiles a block may have
constexpr int64_t kShortestAxis = 16;   // below it most of a tile is empty
constexpr int kMoveBytes = 4;           // that a thread moves at once, at least: narrower loads leave memory half idle

std::string number(size_t value) { return std::to_string(value); }

class Tiles {
 public:
  explicit Tiles(const LoopKernel& kernel) : kernel_(kernel), sizes_(LoopSizes::of(kernel)) { choose(); }

  bool applies() const { return !staged_.empty(); }
  size_t axis() const { return axis_; }

  // Elements of both lines that a thread moves at once: as many of the narrowest staged input as make kMoveBytes, fewer
  // where known sizes do not divide by it.
  int width() const {
    int64_t width = 1;
    for (const size_t t : staged_) {
      width = std::max<int64_t>(width, kMoveBytes / ir::element_size(tensor(t).element));
    }
    auto divide = [&](const SizeSlot& size) { width = width_dividing(size, width); };
    divide(sizes_.extents[last()]);
    divide(sizes_.extents[axis_]);
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      const size_t along = is_staged(t) ? axis_ : last();
      if (!sizes_.strides[t][along].is(1)) {
        continue;  // read element by element
      }
      divide(sizes_.offsets[t]);
      for (size_t axis = 0; axis < sizes_.strides[t].size(); ++axis) {
        if (axis != along) {
          divide(sizes_.strides[t][axis]);
        }
      }
    }
    return static_cast<int>(width);
  }

  std::string function() const {
    const std::string tile = std::to_string(kTile);
    std::string text = "template <typename I, int W> TESSIQ_INLINE void tiles(" + pointer_parameters(kernel_) +
                       size_parameters(sizes_.parameter_count()) + ") {\n  const I columns = " + extent(last()) +
                       ";\n  const I rows = " + extent(axis_) + ";\n  const I across = (columns + " +
                       std::to_string(kTile - 1) + ") / " + tile + ";\n  const I down = (rows + " +
                       std::to_string(kTile - 1) + ") / " + tile +
                       ";\n  const I row = I(blockIdx.x) / across % down * " + tile +
                       ";\n  const I column = I(blockIdx.x) % across * " + tile + ";\n" + places() +
                       "  const I lane = I(threadIdx.x % (" + tile + " / W)) * I(W);\n";
    for (const size_t t : staged_) {
      text += "  __shared__ " + storage(t) + " tile" + number(t) + "[" + tile + "][" + std::to_string(kTile + 1) +
              "];\n  " + pack_of(t) + " s" + number(t) + "[" + std::to_string(kTile * kTile / kThreads) + " / W];\n";
    }
    // Every load stands before the first store to a tile: what a compiler must not take for a store to the input.
    const std::string inside = "    if (column + line < columns && row + lane < rows) {\n";
    text += for_each_line(inside + loads() + "    }\n") + for_each_line(inside + staging() + "    }\n");
    text += "  __syncthreads();\n";
    return text +
           for_each_line("    if (row + line < rows && column + lane < columns) {\n" + statements() + "    }\n") +
           "}\n";
  }

 private:
  size_t last() const { return sizes_.extents.size() - 1; }
  bool is_input(size_t t) const { return t < kernel_.inputs.size(); }
  const LoopTensor& tensor(size_t t) const {
    return is_input(t) ? kernel_.inputs[t] : kernel_.outputs[t - kernel_.inputs.size()];
  }
  std::string storage(size_t t) const { return std::string(storage_type_name(tensor(t).element)); }
  std::string pointer_name(size_t t) const {
    return is_input(t) ? "in" + number(t) : "out" + number(t - kernel_.inputs.size());
  }
  std::string extent(size_t axis) const { return "I(" + sizes_.extents[axis].text() + ")"; }
  bool is_staged(size_t t) const { return std::find(staged_.begin(), staged_.end(), t) != staged_.end(); }

  bool is_long(size_t axis) const {
    return !sizes_.extents[axis].is_constant() || sizes_.extents[axis].constant >= kShortestAxis;
  }
  bool lies_across(size_t t) const {
    const SizeSlot& inner = sizes_.strides[t].back();
    return !inner.is(0) && !inner.is(1);
  }

  // The axis along which the first such input lies, and the inputs that lie along it.
  void choose() {
    if (sizes_.extents.size() < 2 || !is_long(last()) || !kernel_.reads_in_place()) {
      return;
    }
    for (size_t t = kernel_.inputs.size(); t < sizes_.strides.size(); ++t) {
      if (!sizes_.strides[t].back().is(1)) {
        return;
      }
    }
    axis_ = last();
    int64_t bytes = 0;
    for (size_t t = 0; t < kernel_.inputs.size(); ++t) {
      for (size_t axis = 0; axis < last() && lies_across(t); ++axis) {
        const bool along = sizes_.strides[t][axis].is(1) && is_long(axis) && (axis_ == last() || axis_ == axis);
        const int64_t more = int64_t{kTile} * (kTile + 1) * ir::element_size(tensor(t).element);
        if (along && bytes + more <= kMostShared) {
          axis_ = axis;
          bytes += more;
          staged_.push_back(t);
          break;
        }
      }
    }
  }

  // Where a tile's other axes begin in every tensor.
  std::string places() const {
    LoopSizes others = sizes_;
    auto drop = [&](auto& list) {
      list.erase(list.end() - 1);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(axis_));
    };
    drop(others.extents);
    std::string text =
        "  const I i = I(blockIdx.x) / across / down;\n" + coordinate_lines(others, TextTarget::kCuda, "  ");
    for (size_t t = 0; t < others.strides.size(); ++t) {
      drop(others.strides[t]);
      text += "  const I at" + number(t) + " = " + offset_text(others.strides[t], others.extents.size(), "I") + ";\n";
    }
    return text;
  }

  static std::string for_each_line(const std::string& body) {
    const std::string tile = std::to_string(kTile);
    const std::string threads = std::to_string(kThreads);
    return "#pragma unroll\n  for (int k = 0; k < " + std::to_string(kTile * kTile / kThreads) +
           " / W; ++k) {\n    const I line = I(threadIdx.x / (" + tile + " / W)) + I(k * (" + threads + " * W / " +
           tile + "));\n" + body + "  }\n";
  }

  std::string step(size_t t, size_t axis, const std::string& coordinate) const {
    const SizeSlot& stride = sizes_.strides[t][axis];
    return stride.is(0) ? "" : " + (" + coordinate + ")" + (stride.is(1) ? "" : " * I(" + stride.text() + ")");
  }

  std::string pack_of(size_t t) const { return "pack<" + storage(t) + ", W>"; }

  static std::string for_each_element(const std::string& body) {
    return "#pragma unroll\n      for (int e = 0; e < W; ++e) {\n" + body + "      }\n";
  }

  std::string loads() const {
    std::string text;
    for (const size_t t : staged_) {
      text += "      s" + number(t) + "[k] = load<W>(" + pointer_name(t) + " + at" + number(t) +
              step(t, axis_, "row + lane") + step(t, last(), "column + line") + ");\n";
    }
    return text;
  }

  std::string staging() const {
    std::string text;
    for (const size_t t : staged_) {
      text += for_each_element("        tile" + number(t) + "[line][lane + I(e)] = s" + number(t) + "[k].at[e];\n");
    }
    return text;
  }

  // Where line `line` of the tile has its element `column`.
  std::string place(size_t t, const std::string& column) const {
    return "at" + number(t) + step(t, axis_, "row + line") + step(t, last(), column);
  }

  std::string statements() const {
    std::vector<std::string> values;
    std::vector<std::string> results;
    std::string packs;
    std::string declarations;
    std::string writes;
    std::string stores;
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      const ir::ElementType element = tensor(t).element;
      const std::string name = "p" + number(t);
      if (!is_input(t)) {
        results.push_back("r" + number(results.size()));
        packs += "      " + pack_of(t) + " " + name + ";\n";
        declarations += "        " + std::string(value_type_name(element)) + " " + results.back() + ";\n";
        writes += "        " + name + ".at[e] = " + store_conversion(results.back(), element) + ";\n";
        stores += "      store(" + pointer_name(t) + " + " + place(t, "column + lane") + ", " + name + ");\n";
      } else if (is_staged(t)) {
        values.push_back(load_conversion("tile" + number(t) + "[lane + I(e)][line]", element));
      } else if (sizes_.strides[t].back().is(1)) {
        packs += "      const " + pack_of(t) + " " + name + " = load<W>(" + pointer_name(t) + " + " +
                 place(t, "column + lane") + ");\n";
        values.push_back(load_conversion(name + ".at[e]", element));
      } else {
        values.push_back(load_conversion(pointer_name(t) + "[" + place(t, "column + lane + I(e)") + "]", element));
      }
    }
    return packs +
           for_each_element(declarations + "        " + element_call(kernel_, values, results) + "\n" + writes) +
           stores;
  }

  const LoopKernel& kernel_;
  LoopSizes sizes_;
  size_t axis_ = 0;             // that the staged inputs lie along
  std::vector<size_t> staged_;  // inputs
};

}  // namespace

Result<std::optional<TiledLoop>> tiled_loop(const LoopKernel& kernel) {
  const Tiles tiles(kernel);
  if (!tiles.applies()) {
    return std::optional<TiledLoop>();
  }
  TiledLoop loop;
  loop.function = tiles.function();
  const auto add = [&](int width) {
    KernelVariant& variant = loop.variants.emplace_back();
    variant.entry = width > 1 ? "@_tiles_x" + std::to_string(width) : "@_tiles";
    variant.threads = kThreads;
    variant.elements_per_thread = kTile * kTile / kThreads;
    variant.index_32bit = true;
    variant.tile = kTile;
    variant.tile_axis = static_cast<int>(tiles.axis());
    variant.vector_width = width;
    variant.inner_multiple = width;
  };
  if (tiles.width() > 1) {
    add(tiles.width());
  }
  add(1);
  return std::optional(std::move(loop));
}

}  // namespace tessiq::emit
