extern "C" __global__ void writes_and_returns_new(const scalar_t* x, scalar_t* result) {}
