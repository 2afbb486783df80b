// How kernels are launched that compute rows with held_row, with staged_row, or with over_row where a row fits neither.
//
// Decides the function that runs, by its ending: <threads>x<elements> of those that hold a row in registers, `elements`
// a thread, else `staged` or `streamed`. Their numbers start with rows and columns.
//
// Part of the installed headers: it uses nothing that is compiled into tessiq.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pytorch/custom/definition.h"

namespace tessiq {
namespace custom __attribute__((visibility("hidden"))) {

  inline constexpr int64_t kWarp = 32;
  inline constexpr int64_t kMostThreads = 1024;
  inline constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  inline constexpr int64_t kVectorBytes = 16;
  // Threads of a block that has a row in shared memory, and what two such blocks may have of it beside each other, or
  // one by itself.
  inline constexpr int64_t kStagingThreads = 512;
  inline constexpr int64_t kHalfShared = int64_t{112} << 10;
  inline constexpr int64_t kShared = int64_t{224} << 10;
  // Elements a thread sees of a row it walks over.
  inline constexpr int64_t kUsuallyWalked = 16;

  inline int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  inline bool starts_at_a_vector(const at::Tensor& x) {
    return reinterpret_cast<uintptr_t>(x.const_data_ptr()) % kVectorBytes == 0;
  }

  struct HeldRow {
    int64_t threads;
    int64_t elements;  // that a thread holds; more of them, and fewer threads fit beside each other
    int64_t width;     // of a vector, where the form is for one kind of element; 0: for any
  };
  // The shortest that fits is taken. Half types do not use the last: beside 1024 threads no other block runs, and
  // their rows fit shared memory twice.
  inline constexpr std::array<HeldRow, 9> kHeldRows = {{{kWarp, 8, 0},
                                                        {kWarp, 16, 0},
                                                        {kWarp, 32, 0},
                                                        {256, 8, 0},
                                                        {256, 16, 8},
                                                        {512, 8, 4},
                                                        {512, 16, 0},
                                                        {512, 32, 0},
                                                        {1024, 32, 4}}};

  inline Launch walked_rows(int64_t rows, int64_t columns, int64_t element_size) {
    Launch launch;
    launch.grid = {static_cast<unsigned>(rows), 1, 1};
    const int64_t bytes = columns * element_size + kVectorBytes;
    int64_t threads = std::min(quotient_up(columns, kWarp * kUsuallyWalked) * kWarp, kMostThreads);
    if (bytes <= kShared) {
      threads = std::min(threads, bytes <= kHalfShared ? kStagingThreads : kMostThreads);
      launch.shared_bytes = static_cast<unsigned>(bytes);
    }
    launch.instance = bytes <= kShared ? "staged" : "streamed";
    launch.block = {static_cast<unsigned>(std::max(threads, kWarp)), 1, 1};
    return launch;
  }

  // For rows along the last axis of `x`, which has at least one. Rows of `read_with` are read in the same way.
  inline Launch held_rows(const at::Tensor& x, const at::Tensor& result,
                          const std::vector<at::Tensor>& read_with = {}) {
    const int64_t columns = x.size(-1);
    const int64_t rows = columns == 0 ? 0 : x.numel() / columns;
    if (rows > kMostBlocks) {
      return Launch::decline("more rows than one launch reaches");
    }
    const int64_t width = kVectorBytes / x.element_size();
    const bool in_vectors = columns % width == 0 && starts_at_a_vector(x) && starts_at_a_vector(result) &&
                            std::all_of(read_with.begin(), read_with.end(), &starts_at_a_vector);
    Launch launch = walked_rows(rows, columns, x.element_size());
    for (const HeldRow& form : kHeldRows) {
      if (in_vectors && columns <= form.threads * form.elements && (form.width == 0 || form.width == width)) {
        // Rows of a warp go beside each other: 256 threads, 128 of half types, which compute more for each load.
        const int64_t rows_of_block = form.threads == kWarp ? (width > 4 ? 4 : 8) : 1;
        launch.grid = {static_cast<unsigned>(quotient_up(rows, rows_of_block)), 1, 1};
        launch.block = {static_cast<unsigned>(form.threads), static_cast<unsigned>(rows_of_block), 1};
        launch.shared_bytes = 0;
        launch.instance = std::to_string(form.threads) + "x" + std::to_string(form.elements);
        break;
      }
    }
    launch.numbers = {rows, columns};
    return launch;
  }

}  // namespace custom
}  // namespace tessiq
