extern "C" __global__ void schema_that_does_not_parse(const scalar_t* x, scalar_t* result) {}
