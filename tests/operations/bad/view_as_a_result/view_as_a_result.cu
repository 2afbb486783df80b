extern "C" __global__ void view_as_a_result(const scalar_t* x, scalar_t* result) {}
