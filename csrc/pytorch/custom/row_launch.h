// How kernels are launched that compute rows with held_row, or over_row where a row does not fit.
//
// Decides the threads of a row, and whether they hold it in registers. Their numbers start with rows, columns and
// vectors: how many vectors of a row a thread holds, a power of two, or 0 where the row is not held.
//
// Part of the installed headers: it uses nothing that is compiled into tessiq.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pytorch/custom/definition.h"

namespace tessiq {
namespace custom __attribute__((visibility("hidden"))) {

  inline constexpr int64_t kWarp = 32;
  inline constexpr int64_t kMostThreads = 1024;
  inline constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  inline constexpr int64_t kVectorBytes = 16;
  // Elements of a row that a thread holds: more of them, and fewer threads fit beside each other.
  inline constexpr int64_t kMostHeld = 32;
  inline constexpr int64_t kUsuallyHeld = 16;

  inline int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  inline bool starts_at_a_vector(const at::Tensor& x) {
    return reinterpret_cast<uintptr_t>(x.const_data_ptr()) % kVectorBytes == 0;
  }

  // For rows along the last axis of `x`, which has at least one. Rows of `read_with` are read in the same way.
  inline Launch held_rows(const at::Tensor& x, const at::Tensor& result,
                          const std::vector<at::Tensor>& read_with = {}) {
    const int64_t columns = x.size(-1);
    const int64_t rows = columns == 0 ? 0 : x.numel() / columns;
    const int64_t width = kVectorBytes / x.element_size();
    const bool is_held = columns <= kMostThreads * kMostHeld && columns % width == 0 && starts_at_a_vector(x) &&
                         starts_at_a_vector(result) &&
                         std::all_of(read_with.begin(), read_with.end(), &starts_at_a_vector);
    const bool in_a_warp = columns <= kWarp * kMostHeld;
    const int64_t warps = quotient_up(columns, kWarp * kUsuallyHeld);
    const int64_t threads = in_a_warp ? kWarp : std::min(warps * kWarp, kMostThreads);
    const int64_t rows_of_block = in_a_warp ? 4 : 1;
    const int64_t blocks = quotient_up(rows, rows_of_block);
    if (blocks > kMostBlocks) {
      return Launch::decline("more rows than one launch reaches");
    }
    int vectors = is_held ? 1 : 0;
    while (is_held && vectors * width * threads < columns) {
      vectors *= 2;
    }
    Launch launch;
    launch.grid = {static_cast<unsigned>(blocks), 1, 1};
    launch.block = {static_cast<unsigned>(threads), static_cast<unsigned>(rows_of_block), 1};
    launch.numbers = {rows, columns, vectors};
    return launch;
  }

}  // namespace custom
}  // namespace tessiq
