// A block a row, which is read once. The largest element and the sum of exponentials are found together.
__device__ __forceinline__ accumulate_t largest(accumulate_t a, accumulate_t b) { return fmaxf(a, b); }
__device__ __forceinline__ accumulate_t sum(accumulate_t a, accumulate_t b) { return a + b; }

extern "C" __global__ void cross_entropy(const scalar_t* __restrict__ logits, const long long* __restrict__ target,
                                         float* __restrict__ losses, float* __restrict__ log_sum_exp, long long columns,
                                         long long ignored) {
  const accumulate_t lowest = -__int_as_float(0x7f800000);
  const scalar_t* row = logits + blockIdx.x * columns;
  accumulate_t most = lowest;
  accumulate_t total = 0;
  over_row(row, columns, [&](long long, accumulate_t x) {
    if (x > most) {
      total *= expf(most - x);
      most = x;
    }
    // Nothing, also beside another of its kind, from which it differs by no number.
    total += x == lowest ? 0 : expf(x - most);
  });
  const accumulate_t of_row = over_block(most, largest);
  const accumulate_t of_all = over_block(most == of_row ? total : total * expf(most - of_row), sum);
  if (threadIdx.x == 0) {
    const accumulate_t logarithm = of_row + logf(of_all);
    const long long wanted = target[blockIdx.x];
    log_sum_exp[blockIdx.x] = logarithm;
    if (wanted == ignored) {
      losses[blockIdx.x] = 0;
    } else {
      // A class that does not exist has no loss, and is not passed over in silence.
      const bool exists = wanted >= 0 && wanted < columns;
      losses[blockIdx.x] = exists ? logarithm - widen(row[wanted]) : __int_as_float(0x7fc00000);
    }
  }
}
