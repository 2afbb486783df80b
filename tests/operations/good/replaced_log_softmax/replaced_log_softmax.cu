// One warp a row.
extern "C" __global__ void replaced_log_softmax(const scalar_t* self, scalar_t* result, long long columns) {
  const scalar_t* row = self + blockIdx.x * columns;
  accumulate_t most = -__int_as_float(0x7f800000);
  for (long long i = threadIdx.x; i < columns; i += 32) {
    most = fmaxf(most, widen(row[i]));
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
  }
  accumulate_t sum = 0;
  for (long long i = threadIdx.x; i < columns; i += 32) {
    sum += expf(widen(row[i]) - most);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  for (long long i = threadIdx.x; i < columns; i += 32) {
    result[blockIdx.x * columns + i] = narrow(widen(row[i]) - most - logf(sum));
  }
}
