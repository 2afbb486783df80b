// The gradient of the logits of cross_entropy, from those of its two results: softmax(logits) times their sum, less the
// first's at the target.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "pytorch/custom/definition.h"
#include "pytorch/custom/row_launch.h"
#include "pytorch/custom/wide_type.h"

namespace {

using tessiq::custom::Launch;
using tessiq::custom::wide;

at::Tensor reference(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& of_losses,
                     const at::Tensor& of_log_sum_exp, const at::Tensor& log_sum_exp, int64_t ignore_index) {
  const at::Tensor of_loss = at::where(target.ne(ignore_index), of_losses, at::zeros_like(of_losses)).unsqueeze(-1);
  const at::Tensor of_all = of_loss + of_log_sum_exp.unsqueeze(-1);
  const at::Tensor probabilities = at::exp(wide(logits) - log_sum_exp.unsqueeze(-1));
  const at::Tensor shared = at::where(of_all.eq(0), at::zeros_like(probabilities), probabilities * of_all);
  const at::Tensor classes = at::arange(logits.sym_size(-1), target.options());
  const at::Tensor own = at::where(classes.eq(target.unsqueeze(-1)), of_loss, at::zeros_like(of_loss));
  return (shared - own).to(logits.scalar_type());
}

Launch launch(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& of_losses,
              const at::Tensor& of_log_sum_exp, const at::Tensor& log_sum_exp, int64_t ignore_index,
              const at::Tensor& /*result*/) {
  using namespace tessiq::custom;
  const auto is_one_a_row = [&](const at::Tensor& x) { return x.sizes() == logits.sizes().slice(0, logits.dim() - 1); };
  if (logits.dim() == 0 || !is_one_a_row(target) || !is_one_a_row(of_losses) || !is_one_a_row(of_log_sum_exp) ||
      !is_one_a_row(log_sum_exp)) {
    return Launch::decline("an argument has not one element a row of logits");
  }
  if (target.numel() > kMostBlocks) {
    return Launch::decline("more rows than one launch reaches");
  }
  const int64_t columns = logits.size(-1);
  const int64_t warps = std::max(quotient_up(columns, kWarp * kUsuallyWalked), int64_t{1});
  Launch launch;
  launch.grid = {static_cast<unsigned>(target.numel()), 1, 1};
  launch.block = {static_cast<unsigned>(std::min(warps * kWarp, kMostThreads)), 1, 1};
  launch.numbers = {columns, ignore_index};
  return launch;
}

}  // namespace

TESSIQ_CUSTOM_OP(cross_entropy_backward) {
  tessiq::custom::Definition definition;
  definition.schema =
      "cross_entropy_backward(Tensor logits, Tensor target, Tensor of_losses, Tensor of_log_sum_exp, "
      "Tensor log_sum_exp, int ignore_index) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat};
  definition.argument_types = {
      {"target", at::kLong}, {"of_losses", at::kFloat}, {"of_log_sum_exp", at::kFloat}, {"log_sum_exp", at::kFloat}};
  return definition;
}
