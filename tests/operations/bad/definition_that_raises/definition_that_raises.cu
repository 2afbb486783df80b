extern "C" __global__ void definition_that_raises(const scalar_t* x, scalar_t* result) {}
