// Default values and an optional tensor, with a backward: x * factor + shift.
#include <ATen/TensorOperators.h>

#include "pytorch/custom/definition.h"

namespace {

using tessiq::custom::Launch;

at::Tensor reference(const at::Tensor& x, const std::optional<at::Tensor>& shift, double factor) {
  const at::Tensor scaled = x * factor;
  return shift && shift->defined() ? scaled + *shift : scaled;
}

Launch launch(const at::Tensor& x, const std::optional<at::Tensor>& shift, double factor, const at::Tensor&) {
  if (shift && shift->defined() && shift->sizes() != x.sizes()) {
    return Launch::decline("the shift has not the size of x");
  }
  Launch launch;
  launch.grid = {static_cast<unsigned>((x.numel() + 255) / 256), 1, 1};
  launch.block = {256, 1, 1};
  launch.numbers = {x.numel(), static_cast<float>(factor)};
  return launch;
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& gradient, const at::Tensor& /*x*/,
                                            const std::optional<at::Tensor>& shift, double factor,
                                            const at::Tensor& /*result*/) {
  const bool shifted = shift && shift->defined();
  return {gradient * factor, shifted ? gradient.sum_to_size(shift->sizes()) : at::Tensor()};
}

}  // namespace

TESSIQ_CUSTOM_OP(scale_shift) {
  tessiq::custom::Definition definition;
  definition.schema = "scale_shift(Tensor x, Tensor? shift=None, float factor=2.0) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kFloat, at::kHalf};
  definition.backward = &backward;
  return definition;
}
