extern "C" __global__ void no_element_types(const scalar_t* x, scalar_t* result) {}
