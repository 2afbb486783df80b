extern "C" __global__ void type_for_no_argument(const scalar_t* x, scalar_t* result) {}
