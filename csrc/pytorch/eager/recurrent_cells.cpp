// Steps of LSTM and GRU. PyTorch sends every device but the CPU to fused operators, which only CUDA has kernels for:
// on a GPU they are borrowed, and elsewhere written out in operators that every device runs.
//
// Gates are chunks along the second axis, in PyTorch's order. A workspace keeps what the backward step reads.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_thnn_fused_gru_cell.h>
#include <ATen/ops/_thnn_fused_gru_cell_backward.h>
#include <ATen/ops/_thnn_fused_lstm_cell.h>
#include <ATen/ops/_thnn_fused_lstm_cell_backward_impl.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>

#include "pytorch/device/identity.h"
#include "pytorch/eager/fallback.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/lender.h"

namespace tessiq::pytorch {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

bool cuda_lends(const at::Tensor& tensor) {
  if (fallback_mode() != FallbackMode::kBorrow) {
    return false;
  }
  const std::optional<Lender> lender = lender_for(resolve(tensor.device()));
  return lender && lender->key == c10::DispatchKey::CUDA;
}

template <typename Operator, typename... Arguments>
auto borrow(const Arguments&... arguments) {
  return at::native::call_fallback_fn<&fallback, Operator>::call(arguments...);
}

at::Tensor plus(const at::Tensor& value, const MaybeTensor& bias) {
  return bias && bias->defined() ? value + *bias : value;
}

at::Tensor slope_of_sigmoid(const at::Tensor& value) { return value * (1 - value); }
at::Tensor slope_of_tanh(const at::Tensor& value) { return 1 - value * value; }

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                                         const at::Tensor& cell, const MaybeTensor& input_bias,
                                                         const MaybeTensor& hidden_bias) {
  if (cuda_lends(cell)) {
    return borrow<at::_ops::_thnn_fused_lstm_cell>(input_gates, hidden_gates, cell, input_bias, hidden_bias);
  }
  const auto gates = plus(plus(input_gates + hidden_gates, input_bias), hidden_bias).chunk(4, 1);
  const at::Tensor in = at::sigmoid(gates[0]);
  const at::Tensor forget = at::sigmoid(gates[1]);
  const at::Tensor candidate = at::tanh(gates[2]);
  const at::Tensor out = at::sigmoid(gates[3]);
  const at::Tensor next_cell = forget * cell + in * candidate;
  return {out * at::tanh(next_cell), next_cell, at::cat({in, forget, candidate, out}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(const MaybeTensor& grad_hidden,
                                                                  const MaybeTensor& grad_cell, const at::Tensor& cell,
                                                                  const at::Tensor& next_cell,
                                                                  const at::Tensor& workspace, bool has_bias) {
  if (cuda_lends(cell)) {
    return borrow<at::_ops::_thnn_fused_lstm_cell_backward_impl>(grad_hidden, grad_cell, cell, next_cell, workspace,
                                                                 has_bias);
  }
  const bool hidden_given = grad_hidden && grad_hidden->defined();
  const bool cell_given = grad_cell && grad_cell->defined();
  if (!hidden_given && !cell_given) {
    return {};
  }
  const auto gates = workspace.chunk(4, 1);
  const at::Tensor& in = gates[0];
  const at::Tensor& forget = gates[1];
  const at::Tensor& candidate = gates[2];
  const at::Tensor& out = gates[3];
  const at::Tensor squashed = at::tanh(next_cell);
  const at::Tensor of_hidden = hidden_given ? *grad_hidden : at::zeros_like(next_cell);
  const at::Tensor of_cell = plus(of_hidden * out * slope_of_tanh(squashed), grad_cell);
  const at::Tensor of_gates =
      at::cat({of_cell * candidate * slope_of_sigmoid(in), of_cell * cell * slope_of_sigmoid(forget),
               of_cell * in * slope_of_tanh(candidate), of_hidden * squashed * slope_of_sigmoid(out)},
              1);
  return {of_gates, of_cell * forget, has_bias ? of_gates.sum(0) : at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                            const at::Tensor& hidden, const MaybeTensor& input_bias,
                                            const MaybeTensor& hidden_bias) {
  if (cuda_lends(hidden)) {
    return borrow<at::_ops::_thnn_fused_gru_cell>(input_gates, hidden_gates, hidden, input_bias, hidden_bias);
  }
  const auto from_input = plus(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = plus(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = at::sigmoid(from_input[0] + from_hidden[0]);
  const at::Tensor update = at::sigmoid(from_input[1] + from_hidden[1]);
  const at::Tensor candidate = at::tanh(from_input[2] + reset * from_hidden[2]);
  return {candidate + update * (hidden - candidate), at::cat({reset, update, candidate, hidden, from_hidden[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(const at::Tensor& grad,
                                                                                         const at::Tensor& workspace,
                                                                                         bool has_bias) {
  if (cuda_lends(grad)) {
    return borrow<at::_ops::_thnn_fused_gru_cell_backward>(grad, workspace, has_bias);
  }
  const auto kept = workspace.chunk(5, 1);
  const at::Tensor& reset = kept[0];
  const at::Tensor& update = kept[1];
  const at::Tensor& candidate = kept[2];
  const at::Tensor of_candidate = grad * (1 - update) * slope_of_tanh(candidate);
  const at::Tensor of_reset = of_candidate * kept[4] * slope_of_sigmoid(reset);
  const at::Tensor of_update = grad * (kept[3] - candidate) * slope_of_sigmoid(update);
  const at::Tensor of_input = at::cat({of_reset, of_update, of_candidate}, 1);
  const at::Tensor of_hidden = at::cat({of_reset, of_update, of_candidate * reset}, 1);
  return {of_input, of_hidden, grad * update, has_bias ? of_input.sum(0) : at::Tensor(),
          has_bias ? of_hidden.sum(0) : at::Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_thnn_fused_lstm_cell", &lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  library.impl("_thnn_fused_gru_cell", &gru_cell);
  library.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace
}  // namespace tessiq::pytorch
