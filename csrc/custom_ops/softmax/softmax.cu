// A row a block, or a warp where blocks have several. A row that fits is held in registers; a longer one is read twice,
// first for its largest element and its sum at once.
__device__ __forceinline__ accumulate_t largest(accumulate_t a, accumulate_t b) { return fmaxf(a, b); }
__device__ __forceinline__ accumulate_t sum(accumulate_t a, accumulate_t b) { return a + b; }

// Of no element, and of elements that are all this infinity.
__device__ __forceinline__ accumulate_t lowest() { return -__int_as_float(0x7f800000); }

template <int kVectors>
__device__ __forceinline__ void held(const scalar_t* from, scalar_t* to, int columns) {
  held_row<kVectors> row;
  row.read(from, columns, lowest());
  accumulate_t most = lowest();
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    most = largest(most, row.values[i]);
  }
  most = over_block(most, largest);
  accumulate_t total = 0;
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    row.values[i] = expf(row.values[i] - most);
    total += row.values[i];
  }
  const accumulate_t scale = 1 / over_block(total, sum);
#pragma unroll
  for (int i = 0; i < row.kCount; ++i) {
    row.values[i] *= scale;
  }
  row.write(to, columns);
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

// `vectors` a thread hold a row; 0: none do.
extern "C" __global__ void softmax(const scalar_t* __restrict__ self, scalar_t* __restrict__ result, long long rows,
                                   long long columns, int vectors) {
  const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const scalar_t* from = self + row * columns;
  scalar_t* to = result + row * columns;
  switch (vectors) {
    case 1:
      return held<1>(from, to, columns);
    case 2:
      return held<2>(from, to, columns);
    case 4:
      return held<4>(from, to, columns);
    case 8:
      return held<8>(from, to, columns);
    default:
      return streamed(from, to, columns);
  }
}
