// A row a block, or a warp where blocks have several. A row that fits is read once and held in registers, or in shared
// memory; a longer one is read twice, first for its largest element and its sum at once.
__device__ __forceinline__ accumulate_t largest(accumulate_t a, accumulate_t b) { return fmaxf(a, b); }
__device__ __forceinline__ accumulate_t sum(accumulate_t a, accumulate_t b) { return a + b; }

// Of no element, and of elements that are all this infinity.
__device__ __forceinline__ accumulate_t lowest() { return -__int_as_float(0x7f800000); }

template <int kElements>
__device__ __forceinline__ void held(const scalar_t* from, scalar_t* to, int columns) {
  held_row<kElements / kVectorWidth> row;
  row.read(from, columns, lowest());
  accumulate_t most = lowest();
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    most = largest(most, row[i]);
  }
  most = over_block(most, largest);
  accumulate_t values[row.kCount];
  accumulate_t total = 0;
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    values[i] = expf(row[i] - most);
    total += values[i];
  }
  const accumulate_t scale = 1 / over_block(total, sum);
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    row.set(i, values[i] * scale);
  }
  row.write(to, columns);
}

__device__ __forceinline__ void staged(const scalar_t* from, scalar_t* to, long long columns) {
  scalar_t* row = staged_row(from);
  accumulate_t most = lowest();
  map_row(from, row, columns, [&](long long, accumulate_t x) {
    most = largest(most, x);
    return x;
  });
  most = over_block(most, largest);
  accumulate_t total = 0;
  over_row(row, columns, [&](long long, accumulate_t x) { total += expf(x - most); });
  const accumulate_t scale = 1 / over_block(total, sum);
  map_row(row, to, columns, [&](long long, accumulate_t x) { return expf(x - most) * scale; });
}

__device__ __forceinline__ void streamed(const scalar_t* from, scalar_t* to, long long columns) {
  accumulate_t most = lowest();
  accumulate_t total = 0;
  over_row(from, columns, [&](long long, accumulate_t x) {
    if (x > most) {
      total *= expf(most - x);
      most = x;
    }
    // Nothing, also beside another of its kind, from which it differs by no number.
    total += x == lowest() ? 0 : expf(x - most);
  });
  const accumulate_t of_row = over_block(most, largest);
  const accumulate_t scale = 1 / over_block(most == of_row ? total : total * expf(most - of_row), sum);
  map_row(from, to, columns, [&](long long, accumulate_t x) { return expf(x - of_row) * scale; });
}

// A function for each way of row_launch.h, so that none has the registers of another.
#define SOFTMAX(instance, most_threads, way)                                                                 \
  extern "C" __global__ void __launch_bounds__(most_threads) softmax_##instance(                             \
      const scalar_t* __restrict__ self, scalar_t* __restrict__ result, long long rows, long long columns) { \
    const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;                                  \
    if (row < rows) {                                                                                        \
      way(self + row * columns, result + row * columns, columns);                                            \
    }                                                                                                        \
  }

SOFTMAX(32x8, 256, held<8>)
SOFTMAX(32x16, 256, held<16>)
SOFTMAX(32x32, 256, held<32>)
SOFTMAX(256x8, 256, held<8>)
SOFTMAX(256x16, 256, held<16>)
SOFTMAX(512x8, 512, held<8>)
SOFTMAX(512x16, 512, held<16>)
SOFTMAX(512x32, 512, held<32>)
SOFTMAX(1024x32, 1024, held<32>)
SOFTMAX(staged, 1024, staged)
SOFTMAX(streamed, 1024, streamed)
