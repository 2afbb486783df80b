extern "C" __global__ void scale_shift(const scalar_t* x, const scalar_t* shift, scalar_t* result, long long count,
                                       float factor) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < count) {
    result[i] = narrow(widen(x[i]) * factor + (shift == nullptr ? accumulate_t(0) : widen(shift[i])));
  }
}
