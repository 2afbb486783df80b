// SwiGLU: silu(gate) * up (Shazeer, 2020). The compiler fuses it with what computes the two and what reads the result.
#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>

#include "pytorch/custom/definition.h"

namespace {

at::Tensor reference(const at::Tensor& gate, const at::Tensor& up) { return gate * at::sigmoid(gate) * up; }

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& gradient, const at::Tensor& gate, const at::Tensor& up,
                                            const at::Tensor& /*result*/) {
  const at::Tensor open = at::sigmoid(gate);
  const at::Tensor of_gate = gradient * up * open * (1 + gate * (1 - open));
  return {of_gate.sum_to_size_symint(gate.sym_sizes()), (gradient * gate * open).sum_to_size_symint(up.sym_sizes())};
}

}  // namespace

TESSIQ_CUSTOM_OP(swiglu) {
  tessiq::custom::Definition definition;
  definition.schema = "swiglu(Tensor gate, Tensor up) -> Tensor";
  definition.reference = &reference;
  definition.expression = "$0 / (scalar_t(1) + exp(-$0)) * $1";
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  definition.backward = &backward;
  return definition;
}
