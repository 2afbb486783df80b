// GELU by its logistic approximation, x / (1 + exp(-1.702 x)) (Hendrycks and Gimpel, 2016, section 2): one exponential
// where the exact function has an error function. The compiler fuses it between its neighbours.
#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/reciprocal.h>

#include "pytorch/custom/definition.h"

namespace {

at::Tensor reference(const at::Tensor& x) { return x * at::reciprocal(1 + at::exp(x * -1.702)); }

at::Tensor backward(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& /*result*/) {
  const at::Tensor gate = at::reciprocal(1 + at::exp(x * -1.702));
  return gradient * gate * (1 + x * 1.702 * (1 - gate));
}

}  // namespace

TESSIQ_CUSTOM_OP(fast_gelu) {
  tessiq::custom::Definition definition;
  definition.schema = "fast_gelu(Tensor x) -> Tensor";
  definition.reference = &reference;
  definition.expression = "$0 / (scalar_t(1) + exp($0 * scalar_t(-1.702)))";
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  definition.backward = &backward;
  return definition;
}
