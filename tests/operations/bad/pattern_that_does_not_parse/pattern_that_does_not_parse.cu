extern "C" __global__ void pattern_that_does_not_parse(const scalar_t* x, scalar_t* result) {}
