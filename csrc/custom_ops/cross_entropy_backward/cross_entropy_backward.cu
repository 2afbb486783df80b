// A block a row: read once, and its gradient written once.
extern "C" __global__ void cross_entropy_backward(const scalar_t* __restrict__ logits,
                                                  const long long* __restrict__ target,
                                                  const float* __restrict__ of_losses,
                                                  const float* __restrict__ of_log_sum_exp,
                                                  const float* __restrict__ log_sum_exp, scalar_t* __restrict__ result,
                                                  long long columns, long long ignored) {
  const long long row = blockIdx.x;
  const long long wanted = target[row];
  const accumulate_t of_loss = wanted == ignored ? 0 : of_losses[row];
  const accumulate_t of_all = of_loss + of_log_sum_exp[row];
  const accumulate_t logarithm = log_sum_exp[row];
  map_row(logits + row * columns, result + row * columns, columns, [&](long long i, accumulate_t x) {
    // An ignored row has no gradient, whatever is in it.
    const accumulate_t probability = of_all == 0 ? 0 : expf(x - logarithm);
    return probability * of_all - (i == wanted ? of_loss : 0);
  });
}
