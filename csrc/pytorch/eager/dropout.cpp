// Dropout draws its mask from the device's generator; PyTorch's CPU kernel would take the CPU's default one.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>

namespace tessiq::pytorch {
namespace {

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p, std::optional<bool> train) {
  const auto mask_options = input.options().dtype(at::kBool);
  if (input.numel() == 0 || !train.value_or(true)) {
    return {input.clone(), at::ones_like(input, mask_options)};
  }
  if (p == 1) {
    return {at::zeros_like(input), at::zeros_like(input, mask_options)};
  }
  at::Tensor mask = at::empty_like(input, mask_options).bernoulli_(1 - p);
  return {input.mul(mask).mul_(1 / (1 - p)), mask};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { library.impl("native_dropout", &native_dropout); }

}  // namespace
}  // namespace tessiq::pytorch
