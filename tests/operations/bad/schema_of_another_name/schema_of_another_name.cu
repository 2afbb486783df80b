extern "C" __global__ void schema_of_another_name(const scalar_t* x, scalar_t* result) {}
