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
// The same where a vector has more than four elements (measured: 0056).
constexpr int kThreadsOfWideVectors = 128;
constexpr int kVectorBytes = 16;
constexpr int64_t kIndexLimit = std::numeric_limits<int32_t>::max();
// Elements a thread holds between walks. What a thread keeps of each takes a register or two, and a block of 512 is to
// leave room for a second one on its processor.
constexpr int64_t kMostKept = 32;
// What a block may have of shared memory where another one shares its processor, and where none does.
constexpr int64_t kHalfShared = int64_t{112} << 10;
constexpr int64_t kShared = int64_t{224} << 10;

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
    if (kernel_.looks_up()) {
      return false;  // the threads of a column have rows of their own
    }
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
    auto divide = [&](const SizeSlot& size) { width = width_dividing(size, width); };
    for (size_t t = 0; t < sizes_.strides.size(); ++t) {
      const std::vector<SizeSlot>& strides = sizes_.strides[t];
      if (!strides[axis].is(1)) {
        continue;
      }
      for (size_t other = 0; other < strides.size(); ++other) {
        if (other != axis) {
          divide(strides[other]);
        }
      }
      std::for_each(sizes_.lookups[t].begin(), sizes_.lookups[t].end(),
                    [&](const LookupSizes& lookup) { divide(lookup.stride); });
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
      add_staged(width);
    } else {
      add_walked_once(width);
    }
    const bool covered = length_ >= 0 && !variants_.empty() && variants_.back().width == width &&
                         (variants_.back().longest == 0 || variants_.back().longest >= length_) &&
                         variants_.back().form != RowForm::kStaged;
    if (!covered) {
      add({RowForm::kWalked, 512, 4, width, true, 0, walks_ == 1});
    }
  }

  // Threads enough for four vectors each, so that a block has many loads under way and not many blocks one.
  void add_walked_once(int width) {
    for (const int threads : {kWarp, 128, 256}) {
      const int64_t longest = int64_t{threads} * 4 * width * (threads == kWarp ? 2 : 1);
      if (length_ < 0 ? threads == kWarp : length_ <= longest) {
        add({RowForm::kWalked, threads, 4, width, true, longest});
        return;
      }
    }
  }

  // Longer rows than registers hold: the first walk leaves them in shared memory.
  void add_staged(int width) {
    const int64_t bytes = staged_bytes(kernel_);
    if (bytes == 0) {
      return;
    }
    for (const int threads : {512, 1024}) {
      const int64_t longest = (threads == 512 ? kHalfShared : kShared) / bytes;
      const bool kept = !variants_.empty() && variants_.back().width == width && variants_.back().longest >= longest;
      const bool covered =
          length_ >= 0 && !variants_.empty() && variants_.back().width == width && variants_.back().longest >= length_;
      if (!kept && !covered && (length_ < 0 || length_ <= longest)) {
        add({RowForm::kStaged, threads, std::max(8 / width, 2), width, true, longest, false, bytes});
      }
    }
  }

  // Known rows get the one form that fits them, others a few to choose from.
  void add_kept(int width) {
    for (const auto& [threads, elements] : {std::pair<int, int64_t>{kWarp, 8},
                                            {kWarp, 32},
                                            {256, 2 * width},
                                            {512, 8},
                                            {512, 16},
                                            {512, 32},
                                            {1024, 32}}) {
      const int64_t longest = threads * elements;
      const bool small = width > elements || elements > kMostKept;
      const bool offered =
          length_ >= 0 ? length_ <= longest : (threads == kWarp ? elements == 32 : threads == 512 && elements != 16);
      // A block of 1024 has its processor to itself; half types fit shared memory two or three times.
      const bool better_staged = threads == 1024 && width > 4 && staged_bytes(kernel_) > 0;
      if (small || !offered || better_staged) {
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

const char* row_form_name(RowForm form) {
  constexpr const char* kNames[] = {"kept", "staged", "walked", "columns", "final"};
  return kNames[static_cast<size_t>(form)];
}

int64_t staged_bytes(const LoopKernel& kernel) {
  const RowPlan plan = RowPlan::of(kernel, Elements::kComputedAgain);
  int64_t bytes = 0;
  for (size_t input = 0; input < kernel.inputs.size(); ++input) {
    bytes += plan.walks_reading(input) > 1 ? ir::element_size(kernel.inputs[input].element) : 0;
  }
  return bytes;
}

KernelVariant kernel_variant(const RowVariant& row) {
  KernelVariant variant;
  variant.entry = std::string("@_") + row_form_name(row.form) + std::to_string(row.threads) + "x" +
                  std::to_string(row.units) + "x" + std::to_string(row.width) + (row.index_32bit ? "" : "_long");
  variant.vector_width = row.width;
  variant.inner_multiple = row.width;
  variant.index_32bit = row.index_32bit;
  variant.longest_row = row.longest;
  variant.is_final = row.form == RowForm::kFinal;
  variant.splits = row.splits;
  variant.shared_bytes_per_element = row.staged;
  if (row.form == RowForm::kColumns) {
    variant.threads = kThreads;
    variant.rows_per_block = kWarp * row.width;
    variant.vectors_across_rows = true;
    variant.elements_per_thread = row.units;
    variant.elements_per_pass = int64_t{row.threads} * row.units;
    return variant;
  }
  variant.threads = row.threads != kWarp ? row.threads : row.width > 4 ? kThreadsOfWideVectors : kThreads;
  variant.elements_per_thread = row.units * row.width;
  variant.rows_per_block = variant.threads / row.threads;
  variant.elements_per_pass = int64_t{row.threads} * row.units * row.width;
  return variant;
}

}  // namespace tessiq::emit
