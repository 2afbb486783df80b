// A row a block, or a warp where blocks have several. A row that fits is held in registers; a longer one is read twice.
__device__ __forceinline__ accumulate_t sum(accumulate_t a, accumulate_t b) { return a + b; }

template <int kVectors>
__device__ __forceinline__ void held(const scalar_t* from, const scalar_t* weight, scalar_t* to, int columns,
                                     float epsilon) {
  held_row<kVectors> row;
  row.read(from, columns, 0);
  held_row<kVectors> scales;
  scales.read(weight, columns, 0);
  accumulate_t squares = 0;
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    squares += row.values[i] * row.values[i];
  }
  const accumulate_t root = rsqrtf(over_block(squares, sum) / accumulate_t(columns) + epsilon);
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    row.values[i] = row.values[i] * root * scales.values[i];
  }
  row.write(to, columns);
}

__device__ __forceinline__ void streamed(const scalar_t* from, const scalar_t* weight, scalar_t* to, long long columns,
                                         float epsilon) {
  accumulate_t squares = 0;
  over_row(from, columns, [&](long long, accumulate_t x) { squares += x * x; });
  const accumulate_t root = rsqrtf(over_block(squares, sum) / accumulate_t(columns) + epsilon);
  map_row(from, to, columns, [&](long long i, accumulate_t x) { return x * root * widen(weight[i]); });
}

// `vectors` a thread hold a row; 0: none do.
extern "C" __global__ void rms_norm(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,
                                    scalar_t* __restrict__ result, long long rows, long long columns, int vectors,
                                    float epsilon) {
  const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const scalar_t* from = x + row * columns;
  scalar_t* to = result + row * columns;
  switch (vectors) {
    case 1:
      return held<1>(from, weight, to, columns, epsilon);
    case 2:
      return held<2>(from, weight, to, columns, epsilon);
    case 4:
      return held<4>(from, weight, to, columns, epsilon);
    case 8:
      return held<8>(from, weight, to, columns, epsilon);
    default:
      return streamed(from, weight, to, columns, epsilon);
  }
}
