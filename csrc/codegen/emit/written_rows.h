// What kernels written by hand use to walk over rows, as text: see written_source.h.
#pragma once

#include <array>
#include <string_view>

namespace tessiq::emit {

inline constexpr std::array<std::string_view, 6> kWrittenRowNames = {"over_block", "vector_t", "over_row",
                                                                     "map_row",    "held_row", "staged_row"};

// A block has one row in x, or blockDim.x is 32 and y counts rows: then a warp is what these call a block.
inline constexpr std::string_view kWrittenRows = R"tessiq(
constexpr int kVectorWidth = 16 / sizeof(scalar_t);
struct alignas(16) vector_t { scalar_t of[kVectorWidth]; };

// `combine` is associative and commutative. Every thread of the block calls this and gets the result.
template <typename Combine>
TESSIQ_INLINE accumulate_t over_block(accumulate_t value, Combine combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  if (blockDim.x == 32) {
    return value;
  }
  __shared__ accumulate_t of_warp[32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  const int warps = blockDim.x / 32;
  if ((warps & (warps - 1)) != 0) {
    value = of_warp[0];
    for (int warp = 1; warp < warps; ++warp) {
      value = combine(value, of_warp[warp]);
    }
    return value;
  }
  value = of_warp[threadIdx.x & (warps - 1)];
  for (int distance = warps / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// Elements before the first whose address is a multiple of 16.
TESSIQ_INLINE long long elements_to_align(const scalar_t* row, long long columns) {
  const long long head = (16 - (unsigned long long)row % 16) % 16 / sizeof(scalar_t);
  return head < columns ? head : columns;
}

// Calls visit(column, value) for each element of the row in some thread of the block.
template <typename Visit>
TESSIQ_INLINE void over_row(const scalar_t* row, long long columns, Visit visit) {
  const long long head = elements_to_align(row, columns);
  const long long vectors = (columns - head) / kVectorWidth;
  if (threadIdx.x < head) {
    visit((long long)threadIdx.x, widen(row[threadIdx.x]));
  }
#pragma unroll 4
  for (long long i = threadIdx.x; i < vectors; i += blockDim.x) {
    const vector_t loaded = reinterpret_cast<const vector_t*>(row + head)[i];
#pragma unroll
    for (int j = 0; j < kVectorWidth; ++j) {
      visit(head + i * kVectorWidth + j, widen(loaded.of[j]));
    }
  }
  for (long long i = head + vectors * kVectorWidth + threadIdx.x; i < columns; i += blockDim.x) {
    visit(i, widen(row[i]));
  }
}

// Writes map(column, value) of each element of `from` to its place in `to`.
template <typename Map>
TESSIQ_INLINE void map_row(const scalar_t* from, scalar_t* to, long long columns, Map map) {
  const bool in_vectors = (unsigned long long)from % 16 == (unsigned long long)to % 16;
  const long long head = in_vectors ? elements_to_align(from, columns) : columns;
  const long long vectors = (columns - head) / kVectorWidth;
  for (long long i = threadIdx.x; i < head; i += blockDim.x) {
    to[i] = narrow(map(i, widen(from[i])));
  }
#pragma unroll 4
  for (long long i = threadIdx.x; i < vectors; i += blockDim.x) {
    vector_t values = reinterpret_cast<const vector_t*>(from + head)[i];
#pragma unroll
    for (int j = 0; j < kVectorWidth; ++j) {
      values.of[j] = narrow(map(head + i * kVectorWidth + j, widen(values.of[j])));
    }
    reinterpret_cast<vector_t*>(to + head)[i] = values;
  }
  for (long long i = head + vectors * kVectorWidth + threadIdx.x; i < columns; i += blockDim.x) {
    to[i] = narrow(map(i, widen(from[i])));
  }
}

// At most kVectors vectors a thread, of a row that starts at a multiple of 16 bytes and is a multiple of them long. They
// are held as they were loaded: half as many registers for half types as what they are widened to.
template <int kVectors>
struct held_row {
  static constexpr int kCount = kVectors * kVectorWidth;
  vector_t vectors[kVectors];

  // Where a row has the first element of a thread's vector.
  TESSIQ_INLINE static int column(int vector) { return (vector * blockDim.x + threadIdx.x) * kVectorWidth; }

  // A thread's vector of any row of that kind; `beyond` stands where the row has ended.
  TESSIQ_INLINE static vector_t vector_of(const scalar_t* row, int vector, int columns, accumulate_t beyond) {
    if (column(vector) < columns) {
      return *reinterpret_cast<const vector_t*>(row + column(vector));
    }
    vector_t ended;
#pragma unroll
    for (int j = 0; j < kVectorWidth; ++j) {
      ended.of[j] = narrow(beyond);
    }
    return ended;
  }
  TESSIQ_INLINE void read(const scalar_t* row, int columns, accumulate_t beyond) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      vectors[v] = vector_of(row, v, columns, beyond);
    }
  }
  TESSIQ_INLINE accumulate_t operator[](int i) const { return widen(vectors[i / kVectorWidth].of[i % kVectorWidth]); }
  TESSIQ_INLINE void set(int i, accumulate_t x) { vectors[i / kVectorWidth].of[i % kVectorWidth] = narrow(x); }
  TESSIQ_INLINE void write(scalar_t* row, int columns) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (column(v) < columns) {
        *reinterpret_cast<vector_t*>(row + column(v)) = vectors[v];
      }
    }
  }
};

// Where a row is kept in shared memory: at the place of a vector that the row itself starts at, so that map_row moves
// vectors. The launch gives it 16 bytes more than the row has. A thread finds what it put there itself; what others
// did stands after over_block.
TESSIQ_INLINE scalar_t* staged_row(const scalar_t* row) {
  extern __shared__ vector_t staged_vectors[];
  return reinterpret_cast<scalar_t*>(staged_vectors) + (unsigned long long)row % 16 / sizeof(scalar_t);
}
)tessiq";

}  // namespace tessiq::emit
