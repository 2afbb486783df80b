extern "C" __global__ void kernel_file_beside_an_expression(const scalar_t* x, scalar_t* result) {}
