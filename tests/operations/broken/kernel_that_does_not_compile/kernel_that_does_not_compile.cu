extern "C" __global__ void kernel_that_does_not_compile(const scalar_t* x, scalar_t* result) { result[0] = nothing; }
