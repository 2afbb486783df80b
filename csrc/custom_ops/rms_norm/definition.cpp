// RMSNorm over the last axis: x * rsqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich, 2019). Half types are
// computed in float32.
#include <ATen/TensorOperators.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsqrt.h>

#include "pytorch/custom/definition.h"
#include "pytorch/custom/row_launch.h"
#include "pytorch/custom/wide_type.h"

namespace {

using tessiq::custom::Launch;
using tessiq::custom::wide;

at::Tensor inverse_root(const at::Tensor& rows, double epsilon) {
  return at::rsqrt(at::mean(at::pow(rows, 2), {-1}, /*keepdim=*/true) + epsilon);
}

at::Tensor reference(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor rows = wide(x);
  return (rows * inverse_root(rows, epsilon) * weight).to(x.scalar_type());
}

Launch launch(const at::Tensor& x, const at::Tensor& weight, double epsilon, const at::Tensor& result) {
  if (x.dim() == 0 || weight.dim() != 1 || weight.size(0) != x.size(-1)) {
    return Launch::decline("the weight is not one row of x");
  }
  Launch launch = tessiq::custom::held_rows(x, result, {weight});
  launch.numbers.emplace_back(static_cast<float>(epsilon));
  return launch;
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
                                            double epsilon, const at::Tensor& /*result*/) {
  const at::Tensor rows = wide(x);
  const at::Tensor root = inverse_root(rows, epsilon);
  const at::Tensor normal = rows * root;
  const at::Tensor scaled = gradient * weight;
  const at::Tensor of_x = root * (scaled - normal * at::mean(scaled * normal, {-1}, /*keepdim=*/true));
  return {of_x.to(x.scalar_type()),
          (gradient * normal).sum_to_size_symint(weight.sym_sizes()).to(weight.scalar_type())};
}

}  // namespace

TESSIQ_CUSTOM_OP(rms_norm) {
  tessiq::custom::Definition definition;
  definition.schema = "rms_norm(Tensor x, Tensor weight, float epsilon=1e-6) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat};
  definition.backward = &backward;
  return definition;
}
