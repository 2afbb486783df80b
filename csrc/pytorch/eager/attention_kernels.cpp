// One function a library and pass. Every one is called inside a LenderScope, on tensors as the lender's kernels see
// them.
#include "pytorch/eager/attention_kernels.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>
#include <string>

#include "pytorch/device/identity.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/lender.h"
#include "support/int_math.h"
#include "support/log.h"

namespace tessiq::pytorch {
namespace {

// Longer heads are computed by cuDNN on some architectures only.
constexpr int64_t kLongestCudnnHead = 128;
// What the memory-efficient kernels ask of a row of the bias and of the saved logarithms.
constexpr int64_t kBiasMultiple = 16;
constexpr int64_t kLogsumexpMultiple = 32;

struct Forward {
  at::Tensor output;
  at::Tensor logsumexp;
};
using Gradients = std::array<at::Tensor, 3>;

// The inputs of a call; the last three in the backward pass alone.
struct Call {
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  at::Tensor bias;
  AttentionOptions options;
  at::Tensor gradient = {};
  at::Tensor output = {};
  at::Tensor logsumexp = {};

  double scale() const { return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3)))); }
  std::optional<at::Tensor> maybe_bias() const { return bias.defined() ? std::optional(bias) : std::nullopt; }
};

at::Tensor rows_side_by_side(const at::Tensor& tensor) {
  return tensor.defined() && tensor.stride(-1) != 1 ? tensor.contiguous() : tensor;
}

// Heads of keys and values that several heads of queries share, once for each.
at::Tensor for_every_head(const at::Tensor& shared, int64_t heads) {
  return shared.size(1) == heads ? shared : shared.repeat_interleave(heads / shared.size(1), 1);
}

at::Tensor summed_over_sharers(const at::Tensor& gradient, int64_t shared_heads) {
  return gradient.size(1) == shared_heads
             ? gradient
             : gradient.unflatten(1, {shared_heads, gradient.size(1) / shared_heads}).sum(2);
}

// The layout that is promised.
at::Tensor heads_inside(const at::Tensor& tensor) { return tensor.transpose(1, 2).contiguous().transpose(1, 2); }

// ---- cuDNN

bool suits_cudnn(const Call& call) { return !call.bias.defined() && call.query.size(3) <= kLongestCudnnHead; }

// Without dropout nothing reads it, so nothing fills it.
at::Tensor no_seed(const Call& call) { return at::empty({}, call.query.options().dtype(at::kLong)); }

Forward cudnn_forward(const Call& call) {
  auto result = at::_scaled_dot_product_cudnn_attention(call.query, call.key, call.value, call.maybe_bias(), true, 0.0,
                                                        call.options.is_causal, false, call.options.scale);
  return {std::get<0>(result), std::get<1>(result)};
}

Gradients cudnn_backward(const Call& call) {
  auto [of_query, of_key, of_value] = at::_scaled_dot_product_cudnn_attention_backward(
      call.gradient, call.query, call.key, call.value, call.output, call.logsumexp.unsqueeze(3), no_seed(call),
      no_seed(call), call.bias, {}, {}, call.query.size(2), call.key.size(2), 0.0, call.options.is_causal,
      call.options.scale);
  return {of_query, of_key, of_value};
}

// ---- PyTorch's memory-efficient kernels

// Expanded to every head, in rows that begin at aligned addresses.
at::Tensor aligned_bias(const Call& call) {
  if (!call.bias.defined()) {
    return {};
  }
  const int64_t length = call.key.size(2);
  at::Tensor bias = call.bias;
  const bool aligned = bias.dim() > 1 && bias.stride(-1) == 1 && bias.stride(-2) % kBiasMultiple == 0 &&
                       bias.storage_offset() % kBiasMultiple == 0;
  if (!aligned) {
    bias = bias.dim() < 2 ? bias.unsqueeze(0) : bias;
    bias = bias.size(-1) == length ? bias : bias.expand({-1, length});
    const int64_t extra = round_up(length, kBiasMultiple) - length;
    bias = at::constant_pad_nd(bias, {0, extra}).narrow(-1, 0, length);
  }
  return bias.expand({call.query.size(0), call.query.size(1), call.query.size(2), length});
}

Forward efficient_forward(const Call& call) {
  const at::Tensor bias = aligned_bias(call);
  auto result = at::_scaled_dot_product_efficient_attention(call.query, call.key, call.value,
                                                            bias.defined() ? std::optional(bias) : std::nullopt, true,
                                                            0.0, call.options.is_causal, call.options.scale);
  return {std::get<0>(result), std::get<1>(result).narrow(2, 0, call.query.size(2))};
}

Gradients efficient_backward(const Call& call) {
  const int64_t length = call.query.size(2);
  const int64_t extra = round_up(length, kLogsumexpMultiple) - length;
  // Padding by nothing would copy.
  const at::Tensor logsumexp =
      extra == 0 ? call.logsumexp
                 : at::constant_pad_nd(call.logsumexp, {0, extra}, std::numeric_limits<double>::infinity());
  auto result = at::_scaled_dot_product_efficient_attention_backward(
      call.gradient, call.query, call.key, call.value, aligned_bias(call), call.output, logsumexp, no_seed(call),
      no_seed(call), 0.0, {true, true, true, false}, call.options.is_causal, call.options.scale);
  return {std::get<0>(result), std::get<1>(result), std::get<2>(result)};
}

// ---- PyTorch's CPU kernels

Forward host_forward(const Call& call) {
  auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
      call.query, call.key, call.value, 0.0, call.options.is_causal, call.maybe_bias(), call.options.scale);
  return {output, logsumexp};
}

Gradients host_backward(const Call& call) {
  auto [of_query, of_key, of_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      call.gradient, call.query, call.key, call.value, call.output, call.logsumexp, 0.0, call.options.is_causal,
      call.maybe_bias(), call.options.scale);
  return {of_query, of_key, of_value};
}

// ---- in steps, in float32: what no library takes

at::Tensor scores(const Call& call) {
  at::Tensor result = at::matmul(call.query.to(at::kFloat) * call.scale(), call.key.to(at::kFloat).transpose(2, 3));
  if (call.bias.defined()) {
    result = result + call.bias;
  }
  if (call.options.is_causal) {
    const at::Tensor later = at::ones({result.size(2), result.size(3)}, result.options().dtype(at::kBool)).triu(1);
    result = result.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return result;
}

Forward stepwise_forward(const Call& call) {
  const at::Tensor all = scores(call);
  const at::Tensor output = at::matmul(at::_safe_softmax(all, -1), call.value.to(at::kFloat));
  return {output.to(call.query.scalar_type()), at::logsumexp(all, {3})};
}

Gradients stepwise_backward(const Call& call) {
  const at::Tensor gradient = call.gradient.to(at::kFloat);
  // A row that is masked everywhere has weights of 0, as in the forward pass.
  const at::Tensor weights = at::nan_to_num(at::exp(scores(call) - call.logsumexp.unsqueeze(3)), 0.0);
  const at::Tensor of_weights = at::matmul(gradient, call.value.to(at::kFloat).transpose(2, 3));
  const at::Tensor along = (gradient * call.output).sum(3, true);
  const at::Tensor of_scores = weights * (of_weights - along) * call.scale();
  const auto type = call.query.scalar_type();
  return {at::matmul(of_scores, call.key.to(at::kFloat)).to(type),
          at::matmul(of_scores.transpose(2, 3), call.query.to(at::kFloat)).to(type),
          at::matmul(weights.transpose(2, 3), gradient).to(type)};
}

template <typename Result>
struct Way {
  const char* name;
  bool suits;
  Result (*run)(const Call&);
};

// The first way that takes the call. A library says no by raising; memory that has run out is no such answer.
template <typename Result>
Result first_of(std::initializer_list<Way<Result>> ways, const Call& call) {
  for (const Way<Result>& way : ways) {
    if (!way.suits) {
      continue;
    }
    try {
      return way.run(call);
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const c10::Error& error) {
      log_info("attention", std::string(way.name) + " does not take this call: " + error.what_without_backtrace());
    }
  }
  TORCH_INTERNAL_ASSERT(false, "the way in steps takes every call");
}

// Tensors of the call as the lender's kernels see them.
Call lent(const Call& call, const Lender& lender) {
  auto as_lent = [&](const at::Tensor& tensor) { return tensor.defined() ? lend(tensor, lender, false) : tensor; };
  return {as_lent(call.query), as_lent(call.key),      as_lent(call.value),  as_lent(call.bias),
          call.options,        as_lent(call.gradient), as_lent(call.output), as_lent(call.logsumexp)};
}

Call prepared(Call call) {
  const int64_t heads = call.query.size(1);
  call.query = rows_side_by_side(call.query);
  call.key = rows_side_by_side(for_every_head(call.key, heads));
  call.value = rows_side_by_side(for_every_head(call.value, heads));
  call.gradient = rows_side_by_side(call.gradient);
  return call;
}

std::optional<Lender> lender_of(const at::Tensor& tensor) {
  return fallback_mode() == FallbackMode::kBorrow ? lender_for(resolve(tensor.device())) : std::nullopt;
}

Forward run_forward(const Call& given, bool on_cuda, bool libraries) {
  const Call call = prepared(given);
  Forward result = first_of<Forward>({{"cuDNN", libraries && on_cuda && suits_cudnn(call), &cudnn_forward},
                                      {"the memory-efficient kernel", libraries && on_cuda, &efficient_forward},
                                      {"the CPU's kernel", libraries && !on_cuda, &host_forward},
                                      {"computing in steps", true, &stepwise_forward}},
                                     call);
  const at::IntArrayRef sizes = call.query.sizes();
  return {heads_inside(result.output), result.logsumexp.reshape(sizes.slice(0, 3)).to(at::kFloat).contiguous()};
}

Gradients run_backward(const Call& given, bool on_cuda, bool libraries) {
  const Call call = prepared(given);
  Gradients result = first_of<Gradients>({{"cuDNN", libraries && on_cuda && suits_cudnn(call), &cudnn_backward},
                                          {"the memory-efficient kernel", libraries && on_cuda, &efficient_backward},
                                          {"the CPU's kernel", libraries && !on_cuda, &host_backward},
                                          {"computing in steps", true, &stepwise_backward}},
                                         call);
  const int64_t shared_heads = given.key.size(1);
  return {heads_inside(result[0]), heads_inside(summed_over_sharers(result[1], shared_heads)),
          heads_inside(summed_over_sharers(result[2], shared_heads))};
}

}  // namespace

std::pair<at::Tensor, at::Tensor> attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                            const at::Tensor& bias, const AttentionOptions& options) {
  const Call call{query, key, value, bias, options};
  const std::optional<Lender> lender = lender_of(query);
  if (!lender) {
    Forward result = run_forward(call, false, false);
    return {result.output, result.logsumexp};
  }
  const DeviceIndex index = resolve(query.device());
  const LenderScope scope(*lender, index);
  Forward result = run_forward(lent(call, *lender), lender->key == c10::DispatchKey::CUDA, true);
  return {adopt(result.output, index), adopt(result.logsumexp, index)};
}

std::array<at::Tensor, 3> attention_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                                             const at::Tensor& value, const at::Tensor& bias, const at::Tensor& output,
                                             const at::Tensor& logsumexp, const AttentionOptions& options) {
  const Call call{query, key, value, bias, options, gradient, output, logsumexp};
  const std::optional<Lender> lender = lender_of(query);
  if (!lender) {
    return run_backward(call, false, false);
  }
  const DeviceIndex index = resolve(query.device());
  const LenderScope scope(*lender, index);
  Gradients result = run_backward(lent(call, *lender), lender->key == c10::DispatchKey::CUDA, true);
  return {adopt(result[0], index), adopt(result[1], index), adopt(result[2], index)};
}

}  // namespace tessiq::pytorch
