#include "codegen/emit/cuda_row_variants.h"

#include <algorithm>
#include <limits>
#include <string>

#include "codegen/emit/row_text.h"
#include "support/int_math.h"

namespace tessiq::emit {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;  // of a block whose warps have a row each
constexpr int kVectorBytes = 16;
constexpr int64_t kIndexLimit = std::numeric_limits<int32_t>::max();
// Elements a thread holds between walks. What a thread keeps of each takes a register or two, and a block of 512 is to
// leave room for a second one on its processor.
constexpr int64_t kMostKept = 32;
constexpr int64_t kWarpRow = 1024;

class RowVariants {
 public:
  explicit RowVariants(const LoopKernel& kernel)
      : kernel_(kernel), sizes_(LoopSizes::of(kernel)), rows_(RowSizes::of(kernel)) {
    walks_ = RowPlan::of(kernel, Elements::kComputedAgain).walks.size();
    length_ = 1;
    for (const SizeSlot& extent : rows_.reduced.extents) {
      length_ = extent.is_constant() && length_ >= 0 ? length_ * extent.constant : -1;
    }
    columns_ = in_columns();
  }

  std::vector<RowVariant> all() && {
    const bool fits = !sizes_.all_constant || largest_offset(sizes_, {}) <= kIndexLimit;
    const int width = vector_width();
    if (fits && width > 1) {
      add_width(width);
    }
    if (fits) {
      add_width(1);
    }
    if (!fits || !sizes_.all_constant) {
      add({RowForm::kWalked, 512, 4, 1, false, 0, walks_ == 1});
    }
    const bool splits =
        std::any_of(variants_.begin(), variants_.end(), [](const RowVariant& one) { return one.splits; });
    if (splits) {
      // First, as a launch takes the first that fits and the last where none does.
      variants_.insert(variants_.begin(), {RowForm::kFinal, 32, 1, 1, fits});
    }
    return std::move(variants_);
  }

 private:
  // Whether neighbouring rows, not neighbouring elements of one, lie side by side.
  bool in_columns() const {
    for (size_t t = 0; t < kernel_.inputs.size() && walks_ == 1 && !rows_.kept.extents.empty(); ++t) {
      if (kernel_.inputs[t].per_row) {
        continue;
      }
      if (rows_.reduced.strides[t].back().is(1)) {
        return false;
      }
      if (rows_.kept.strides[t].back().is(1)) {
        return true;
      }
    }
    return false;
  }

  // Elements a vector covers lie along this axis.
  const SizeSlot& vector_extent() const { return columns_ ? rows_.kept.extents.back() : sizes_.extents.back(); }

  // As a loop's, but that a row ends at its last element and no other.
  int vector_width() const {
    const size_t axis = (columns_ ? rows_.kept.extents.size() : sizes_.extents.size()) - 1;
    int64_t widest = 0;
    const size_t inputs = kernel_.inputs.size();
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      const LoopTensor& tensor = t < inputs ? kernel_.inputs[t] : kernel_.outputs[t - inputs];
      if (sizes_.strides[t][axis].is(1)) {
        widest = std::max<int64_t>(widest, ir::element_size(tensor.element));
      }
    }
    if (widest == 0) {
      return 1;
    }
    int64_t width = kVectorBytes / widest;
    auto divide = [&](const SizeSlot& size) {
      while (size.is_constant() && size.constant % width != 0) {
        width /= 2;
      }
    };
    for (const std::vector<SizeSlot>& strides : sizes_.strides) {
      for (size_t other = 0; other < strides.size() && strides[axis].is(1); ++other) {
        if (other != axis) {
          divide(strides[other]);
        }
      }
    }
    divide(vector_extent());
    return static_cast<int>(width);
  }

  void add(const RowVariant& variant) { variants_.push_back(variant); }

  void add_width(int width) {
    if (columns_) {
      add({RowForm::kColumns, 8, 4, width, true, 0, true});
      return;
    }
    if (walks_ > 1) {
      add_kept(width);
    } else if (length_ < 0 || length_ <= kWarpRow) {
      add({RowForm::kWalked, kWarp, 4, width, true, kWarpRow});
    }
    if (length_ < 0 || variants_.empty() || variants_.back().longest < length_ || variants_.back().width != width) {
      add({RowForm::kWalked, 512, 4, width, true, 0, walks_ == 1});
    }
  }

  // Known rows get the one form that fits them, others a few to choose from.
  void add_kept(int width) {
    for (const auto& [threads, elements] :
         {std::pair<int, int64_t>{kWarp, 8}, {kWarp, 32}, {256, 8}, {512, 8}, {512, 16}, {512, 32}, {1024, 32}}) {
      const int64_t longest = threads * elements;
      const bool small = width > elements || elements > kMostKept;
      const bool offered =
          length_ >= 0 ? length_ <= longest : (threads == kWarp ? elements == 32 : threads == 512 && elements != 16);
      if (small || !offered) {
        continue;
      }
      int units = static_cast<int>(elements / width);
      if (length_ >= 0) {
        units = static_cast<int>(std::max<int64_t>(ceil_div(length_, int64_t{threads} * width), 1));
      }
      add({RowForm::kKept, threads, units, width, true, longest});
      if (length_ >= 0) {
        return;
      }
    }
  }

  const LoopKernel& kernel_;
  LoopSizes sizes_;
  RowSizes rows_;
  size_t walks_ = 1;
  bool columns_ = false;
  int64_t length_ = 1;  // -1 where it is not known
  std::vector<RowVariant> variants_;
};

}  // namespace

std::vector<RowVariant> row_variants(const LoopKernel& kernel) { return RowVariants(kernel).all(); }

KernelVariant kernel_variant(const RowVariant& row) {
  constexpr const char* kNames[] = {"kept", "walked", "columns", "final"};
  KernelVariant variant;
  variant.entry = std::string("@_") + kNames[static_cast<size_t>(row.form)] + std::to_string(row.threads) + "x" +
                  std::to_string(row.units) + "x" + std::to_string(row.width) + (row.index_32bit ? "" : "_long");
  variant.vector_width = row.width;
  variant.inner_multiple = row.width;
  variant.index_32bit = row.index_32bit;
  variant.longest_row = row.longest;
  variant.is_final = row.form == RowForm::kFinal;
  variant.splits = row.splits;
  if (row.form == RowForm::kColumns) {
    variant.threads = kThreads;
    variant.rows_per_block = kWarp * row.width;
    variant.vectors_across_rows = true;
    variant.elements_per_thread = row.units;
    variant.elements_per_pass = int64_t{row.threads} * row.units;
    return variant;
  }
  variant.threads = std::max(row.threads, kThreads);
  variant.elements_per_thread = row.units * row.width;
  variant.rows_per_block = variant.threads / row.threads;
  variant.elements_per_pass = int64_t{row.threads} * row.units * row.width;
  return variant;
}

}  // namespace tessiq::emit
