extern "C" __global__ void pattern_that_computes_nothing(const scalar_t* x, scalar_t* result) {}
