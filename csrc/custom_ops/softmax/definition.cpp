// Softmax over the last axis, in the place of aten::_softmax: torch.softmax, F.softmax and nn.Softmax all reach it.
// Half types are computed in float32.
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>

#include "pytorch/custom/definition.h"
#include "pytorch/custom/row_launch.h"

namespace {

using tessiq::custom::Launch;

at::Tensor reference(const at::Tensor& self, int64_t dim, bool half_to_float) {
  return at::_softmax(self, dim, half_to_float);
}

Launch launch(const at::Tensor& self, int64_t dim, bool half_to_float, const at::Tensor& result) {
  if (half_to_float) {
    return Launch::decline("the result is of another element type");
  }
  if (self.dim() == 0 || (dim != -1 && dim != self.dim() - 1)) {
    return Launch::decline("the axis is not the last one");
  }
  return tessiq::custom::held_rows(self, result);
}

at::Tensor backward(const at::Tensor& gradient, const at::Tensor& self, int64_t dim, bool /*half_to_float*/,
                    const at::Tensor& result) {
  return at::_softmax_backward_data(gradient, result, dim, self.scalar_type());
}

}  // namespace

TESSIQ_CUSTOM_OP(softmax) {
  tessiq::custom::Definition definition;
  definition.schema = "softmax(Tensor self, int dim, bool half_to_float) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat};
  definition.backward = &backward;
  definition.replaces = "aten::_softmax";
  // The loops that are generated for a softmax take in what stands before and after it.
  definition.replaces_in_graphs = false;
  return definition;
}
