// A thread has a place in the table, reads it once, and turns the pairs there in every row that has that position.
template <int kWidth>
struct alignas(kWidth * sizeof(scalar_t)) piece_t {
  scalar_t of[kWidth];
};

// How the call lays out its rows: outer x positions x inner, each of 2 * half elements.
struct Rows {
  unsigned positions, inner, repeats;  // repeats: outer * inner
  int half;
};

template <int kWidth, bool kInterleaved>
__device__ __forceinline__ void turn(const scalar_t* x, const float* cosine, const float* sine, scalar_t* result,
                                     Rows rows) {
  const unsigned pieces = rows.half / kWidth;
  const unsigned slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= rows.positions * pieces) {
    return;
  }
  const unsigned position = slot / pieces;
  const unsigned first = slot % pieces * kWidth;
  accumulate_t along[kWidth], across[kWidth];
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    along[j] = cosine[(long long)position * rows.half + first + j];
    across[j] = sine[(long long)position * rows.half + first + j];
  }
  const long long start = kInterleaved ? 2 * first : first;
  const long long apart = kInterleaved ? kWidth : rows.half;
#pragma unroll 2
  for (unsigned k = blockIdx.y * blockDim.y + threadIdx.y; k < rows.repeats; k += gridDim.y * blockDim.y) {
    const long long row = ((long long)(k / rows.inner) * rows.positions + position) * rows.inner + k % rows.inner;
    const long long at = row * 2 * rows.half + start;
    piece_t<kWidth> pieces_of_row[2] = {*reinterpret_cast<const piece_t<kWidth>*>(x + at),
                                        *reinterpret_cast<const piece_t<kWidth>*>(x + at + apart)};
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const int one = kInterleaved ? 2 * j : j;
      const int other = kInterleaved ? 2 * j + 1 : kWidth + j;
      scalar_t& a = pieces_of_row[one / kWidth].of[one % kWidth];
      scalar_t& b = pieces_of_row[other / kWidth].of[other % kWidth];
      const accumulate_t from_a = widen(a), from_b = widen(b);
      a = narrow(from_a * along[j] - from_b * across[j]);
      b = narrow(from_b * along[j] + from_a * across[j]);
    }
    *reinterpret_cast<piece_t<kWidth>*>(result + at) = pieces_of_row[0];
    *reinterpret_cast<piece_t<kWidth>*>(result + at + apart) = pieces_of_row[1];
  }
}

extern "C" __global__ void rotary_embedding(const scalar_t* __restrict__ x, const float* __restrict__ cosine,
                                            const float* __restrict__ sine, scalar_t* __restrict__ result,
                                            unsigned positions, unsigned inner, unsigned repeats, int half,
                                            int interleaved, int in_vectors) {
  constexpr int kWide = 16 / sizeof(scalar_t);
  const Rows rows{positions, inner, repeats, half};
  if (in_vectors && interleaved) {
    turn<kWide, true>(x, cosine, sine, result, rows);
  } else if (in_vectors) {
    turn<kWide, false>(x, cosine, sine, result, rows);
  } else if (interleaved) {
    turn<1, true>(x, cosine, sine, result, rows);
  } else {
    turn<1, false>(x, cosine, sine, result, rows);
  }
}
