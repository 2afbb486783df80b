extern "C" __global__ void unknown_element_type(const scalar_t* x, scalar_t* result) {}
