// Values beyond the limit are drawn back to it smoothly: limit * tanh(x / limit).
#include <ATen/TensorOperators.h>
#include <ATen/ops/tanh.h>

#include "pytorch/custom/definition.h"

namespace {

at::Tensor reference(const at::Tensor& x, double limit) { return at::tanh(x / limit) * limit; }

at::Tensor backward(const at::Tensor& gradient, const at::Tensor& /*x*/, double limit, const at::Tensor& result) {
  const at::Tensor share = result / limit;
  return gradient * (1 - share * share);
}

}  // namespace

TESSIQ_CUSTOM_OP(soft_clip) {
  tessiq::custom::Definition definition;
  definition.schema = "soft_clip(Tensor x, float limit=1.0) -> Tensor";
  definition.reference = &reference;
  definition.expression = "tanh($0 / $limit) * $limit";
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  definition.backward = &backward;
  return definition;
}
