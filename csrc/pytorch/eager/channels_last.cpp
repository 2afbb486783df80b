// Convolutions whose results have their channels last, as operators of ours.
//
// Eager gives such results for such inputs on every device. While tracing, PyTorch's shape functions do so for the
// devices they know by name and give all others packed results; these two say it in their own shape functions.
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <torch/library.h>

namespace tessiq::pytorch {
namespace {

using c10::SymIntArrayRef;

at::Tensor with_channels_last(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return tensor;
  }
  return tensor.contiguous(tensor.dim() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast);
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
                       SymIntArrayRef output_padding, const c10::SymInt& groups) {
  return with_channels_last(
      at::convolution_symint(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& gradient, const at::Tensor& input, const at::Tensor& weight,
    at::OptionalSymIntArrayRef bias_sizes, SymIntArrayRef stride, SymIntArrayRef padding, SymIntArrayRef dilation,
    bool transposed, SymIntArrayRef output_padding, const c10::SymInt& groups, std::array<bool, 3> output_mask) {
  auto [of_input, of_weight, of_bias] = at::convolution_backward_symint(
      gradient, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask);
  return {with_channels_last(of_input), with_channels_last(of_weight), std::move(of_bias)};
}

TORCH_LIBRARY_FRAGMENT(tessiq, library) {
  library.def(
      "convolution_channels_last(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
      "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor");
  library.def(
      "convolution_backward_channels_last(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
      "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, "
      "bool[3] output_mask) -> (Tensor, Tensor, Tensor)");
}

// Each calls operators that exist for every device, the shapes-only one among them.
TORCH_LIBRARY_IMPL(tessiq, CompositeExplicitAutograd, library) {
  library.impl("convolution_channels_last", &convolution);
  library.impl("convolution_backward_channels_last", &convolution_backward);
}

}  // namespace
}  // namespace tessiq::pytorch
