// The cross-entropy of each row of logits with the class it should have, and the logarithm of the row's sum of
// exponentials, which the backward pass reads instead of probabilities. No tensor as large as the logits is written.
//
// Classes are the last axis. A row whose target is `ignore_index` has loss 0 and no gradient from it; on a GPU a target
// that is no class gives NaN, where the reference on the host raises. The gradient with respect to the second result
// adds to the first's, as for a penalty on it.
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/isposinf.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

#include "pytorch/custom/definition.h"
#include "pytorch/custom/row_launch.h"
#include "pytorch/custom/wide_type.h"

namespace {

using tessiq::custom::Launch;
using tessiq::custom::wide;

std::tuple<at::Tensor, at::Tensor> reference(const at::Tensor& logits, const at::Tensor& target, int64_t ignore_index) {
  const at::Tensor rows = wide(logits);
  const at::Tensor logarithms = at::logsumexp(rows, {-1});
  // As F.cross_entropy and the kernel: an infinite logit leaves no probabilities.
  const at::Tensor log_sum_exp =
      at::masked_fill(logarithms, at::isposinf(logarithms), std::numeric_limits<double>::quiet_NaN());
  const at::Tensor counts = target.ne(ignore_index);
  const at::Tensor classes = at::where(counts, target, at::zeros_like(target)).unsqueeze(-1);
  const at::Tensor losses = log_sum_exp - at::gather(rows, -1, classes).squeeze(-1);
  return {at::where(counts, losses, at::zeros_like(losses)), log_sum_exp};
}

Launch launch(const at::Tensor& logits, const at::Tensor& target, int64_t ignore_index, const at::Tensor& losses,
              const at::Tensor& /*log_sum_exp*/) {
  using namespace tessiq::custom;
  if (logits.dim() == 0 || logits.size(-1) == 0 || target.sizes() != logits.sizes().slice(0, logits.dim() - 1)) {
    return Launch::decline("there is not one target a row of logits");
  }
  if (losses.numel() > kMostBlocks) {
    return Launch::decline("more rows than one launch reaches");
  }
  const int64_t columns = logits.size(-1);
  const int64_t warps = quotient_up(columns, kWarp * kUsuallyWalked);
  Launch launch;
  launch.grid = {static_cast<unsigned>(losses.numel()), 1, 1};
  launch.block = {static_cast<unsigned>(std::min(warps * kWarp, kMostThreads)), 1, 1};
  launch.numbers = {columns, ignore_index};
  return launch;
}

using Backward = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                            const at::Tensor&, int64_t);

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& of_losses, const at::Tensor& of_log_sum_exp,
                                            const at::Tensor& logits, const at::Tensor& target, int64_t ignore_index,
                                            const at::Tensor& /*losses*/, const at::Tensor& log_sum_exp) {
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow("tessiq::cross_entropy_backward", "").typed<Backward>();
  return {operation.call(logits, target, of_losses, of_log_sum_exp, log_sum_exp, ignore_index), at::Tensor()};
}

}  // namespace

TESSIQ_CUSTOM_OP(cross_entropy) {
  tessiq::custom::Definition definition;
  definition.schema =
      "cross_entropy(Tensor logits, Tensor target, int ignore_index=-100) -> (Tensor losses, Tensor log_sum_exp)";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat};
  definition.argument_types = {{"target", at::kLong}};
  definition.backward = &backward;
  return definition;
}
