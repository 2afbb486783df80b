// A row a block, or a warp where blocks have several. A row that fits is read once and held in registers, or in shared
// memory; a longer one is read twice.
__device__ __forceinline__ accumulate_t sum(accumulate_t a, accumulate_t b) { return a + b; }

__device__ __forceinline__ accumulate_t inverse_root(accumulate_t squares, long long columns, float epsilon) {
  return rsqrtf(over_block(squares, sum) / accumulate_t(columns) + epsilon);
}

// Early: the weight is asked for before the threads wait for each other, and takes as many registers as the row,
// at most four vectors.
template <int kElements, bool kEarly>
__device__ __forceinline__ void held(const scalar_t* from, const scalar_t* weight, scalar_t* to, int columns,
                                     float epsilon) {
  constexpr int kVectors = kElements / kVectorWidth;
  held_row<kVectors> row;
  row.read(from, columns, 0);
  held_row<kVectors> scales;
  if constexpr (kEarly && kVectors <= 4) {
    scales.read(weight, columns, 0);
  }
  accumulate_t squares = 0;
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    squares += row[i] * row[i];
  }
  const accumulate_t root = inverse_root(squares, columns, epsilon);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (!kEarly || kVectors > 4) {
      scales.vectors[v] = row.vector_of(weight, v, columns, 0);
    }
#pragma unroll
    for (int i = v * kVectorWidth; i < (v + 1) * kVectorWidth; ++i) {
      row.set(i, row[i] * root * scales[i]);
    }
  }
  row.write(to, columns);
}

__device__ __forceinline__ void staged(const scalar_t* from, const scalar_t* weight, scalar_t* to, long long columns,
                                       float epsilon) {
  scalar_t* row = staged_row(from);
  accumulate_t squares = 0;
  map_row(from, row, columns, [&](long long, accumulate_t x) {
    squares += x * x;
    return x;
  });
  const accumulate_t root = inverse_root(squares, columns, epsilon);
  map_row(row, to, columns, [&](long long i, accumulate_t x) { return x * root * widen(weight[i]); });
}

__device__ __forceinline__ void streamed(const scalar_t* from, const scalar_t* weight, scalar_t* to, long long columns,
                                         float epsilon) {
  accumulate_t squares = 0;
  over_row(from, columns, [&](long long, accumulate_t x) { squares += x * x; });
  const accumulate_t root = inverse_root(squares, columns, epsilon);
  map_row(from, to, columns, [&](long long i, accumulate_t x) { return x * root * widen(weight[i]); });
}

// A function for each way of row_launch.h, so that none has the registers of another. After the way: the most threads
// of a block, and where it was measured to help, how many blocks are to fit beside each other on a processor.
#define RMS_NORM(instance, way, ...)                                                                         \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                                  \
      rms_norm_##instance(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,               \
                          scalar_t* __restrict__ result, long long rows, long long columns, float epsilon) { \
    const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;                                  \
    if (row < rows) {                                                                                        \
      way(x + row * columns, weight, result + row * columns, columns, epsilon);                              \
    }                                                                                                        \
  }
#define EARLY(elements) held<elements, true>
#define LATE(elements) held<elements, false>

RMS_NORM(32x8, EARLY(8), 256)
RMS_NORM(32x16, EARLY(16), 256)
RMS_NORM(32x32, EARLY(32), 256)
RMS_NORM(256x8, EARLY(8), 256)
RMS_NORM(256x16, LATE(16), 256, 6)
RMS_NORM(512x8, EARLY(8), 512)
RMS_NORM(512x16, LATE(16), 512, 3)
RMS_NORM(512x32, LATE(32), 512)
RMS_NORM(1024x32, LATE(32), 1024)
RMS_NORM(staged, staged, 1024)
RMS_NORM(streamed, streamed, 1024)
