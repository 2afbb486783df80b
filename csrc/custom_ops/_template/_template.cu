// Compiled by NVRTC once an element type: scalar_t is that type, accumulate_t the one to compute in, widen and narrow
// go from one to the other. One pointer a tensor argument, then one a result, then the launch function's numbers.
extern "C" __global__ void _template(const scalar_t* x, scalar_t* result, long long count, float factor) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    result[i] = narrow(widen(x[i]) * accumulate_t(factor));
  }
}
