// scaled_dot_product_attention: which form of it runs, and the operators of the fused one.
//
// The choice is registered with PyTorch's stub. The operator _fused_sdp_choice itself is composite, and a kernel for
// it under our key would not be asked. The fused form is for half types; others are decomposed into products and a
// softmax, which the compiler fuses.
#include <ATen/SDPBackend.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "pytorch/eager/attention_kernels.h"

namespace tessiq::pytorch {
namespace {

constexpr int64_t kLongestHead = 256;
constexpr int64_t kHeadMultiple = 8;

bool is_half(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

// Asked while tracing too, when sizes have no numbers: what is not known for sure is decomposed.
bool has_length(const at::Tensor& tensor) {
  const auto length = tensor.sym_size(2).maybe_as_int();
  const auto batch = tensor.sym_size(0).maybe_as_int();
  return (!length || *length > 0) && (!batch || *batch > 0);
}

bool heads_fit(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool enable_gqa) {
  const auto heads = query.sym_size(1).maybe_as_int();
  const auto shared = key.sym_size(1).maybe_as_int();
  const auto of_value = value.sym_size(1).maybe_as_int();
  if (!heads || !shared || !of_value || *shared != *of_value || *shared == 0) {
    return false;
  }
  return *heads == *shared || (enable_gqa && *heads % *shared == 0);
}

bool is_fused(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
              const std::optional<at::Tensor>& mask, double dropout, bool is_causal, bool enable_gqa) {
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4 || dropout > 0 || !is_half(query) ||
      key.scalar_type() != query.scalar_type() || value.scalar_type() != query.scalar_type()) {
    return false;
  }
  const auto head = query.sym_size(3).maybe_as_int();
  const auto key_head = key.sym_size(3).maybe_as_int();
  const auto value_head = value.sym_size(3).maybe_as_int();
  if (!head || head != key_head || head != value_head || *head % kHeadMultiple != 0 || *head > kLongestHead ||
      *head == 0 || !has_length(query) || !has_length(key) || !heads_fit(query, key, value, enable_gqa)) {
    return false;
  }
  // A gradient of the mask is asked of the decomposed form.
  if (mask && (mask->requires_grad() || mask->dim() < 2 || mask->dim() > 4)) {
    return false;
  }
  return !is_causal || query.sym_size(2) == key.sym_size(2);
}

at::Tensor defined_or_none(const std::optional<at::Tensor>& tensor) { return tensor.value_or(at::Tensor()); }

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                           const std::optional<at::Tensor>& bias, bool is_causal,
                                           std::optional<double> scale) {
  auto [output, logsumexp] = attention(query, key, value, defined_or_none(bias), {is_causal, scale});
  return {std::move(output), std::move(logsumexp)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& gradient, const at::Tensor& query,
                                                        const at::Tensor& key, const at::Tensor& value,
                                                        const std::optional<at::Tensor>& bias, const at::Tensor& output,
                                                        const at::Tensor& logsumexp, bool is_causal,
                                                        std::optional<double> scale) {
  auto [of_query, of_key, of_value] =
      attention_backward(gradient, query, key, value, defined_or_none(bias), output, logsumexp, {is_causal, scale});
  return {std::move(of_query), std::move(of_key), std::move(of_value)};
}

// (B, H, S, D) with heads next to the innermost axis in memory.
at::Tensor heads_inside(const at::Tensor& like, const c10::SymInt& length) {
  const c10::SymInt heads = like.sym_size(1);
  const c10::SymInt width = like.sym_size(3);
  return at::empty_strided_symint({like.sym_size(0), heads, length, width},
                                  {length * heads * width, width, heads * width, 1}, like.options());
}

std::tuple<at::Tensor, at::Tensor> forward_shapes(const at::Tensor& query, const at::Tensor& /*key*/,
                                                  const at::Tensor& /*value*/, const std::optional<at::Tensor>&,
                                                  bool /*is_causal*/, std::optional<double> /*scale*/) {
  const c10::SymInt heads = query.sym_size(1);
  const c10::SymInt length = query.sym_size(2);
  return {heads_inside(query, length),
          at::empty_strided_symint({query.sym_size(0), heads, length}, {heads * length, length, 1},
                                   query.options().dtype(at::kFloat))};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_shapes(const at::Tensor& /*gradient*/, const at::Tensor& query,
                                                               const at::Tensor& key, const at::Tensor& value,
                                                               const std::optional<at::Tensor>&,
                                                               const at::Tensor& /*output*/,
                                                               const at::Tensor& /*logsumexp*/, bool /*is_causal*/,
                                                               std::optional<double> /*scale*/) {
  return {heads_inside(query, query.sym_size(2)), heads_inside(key, key.sym_size(2)),
          heads_inside(value, value.sym_size(2))};
}

using Fused = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor,
                         at::Tensor, at::Tensor>;

Fused fused(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
            const std::optional<at::Tensor>& bias, double dropout, bool is_causal, bool /*return_debug_mask*/,
            std::optional<double> scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(dropout == 0, "tessiq: fused attention has no dropout");
  auto [output, logsumexp] = forward(query, key, value, bias, is_causal, scale);
  return {output, logsumexp, {}, {}, query.sym_size(2), key.sym_size(2), {}, {}, {}};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> fused_backward(
    const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& bias, std::array<bool, 4> mask, const at::Tensor& output, const at::Tensor& logsumexp,
    const at::Tensor&, const at::Tensor&, c10::SymInt, c10::SymInt, double dropout, bool is_causal, const at::Tensor&,
    const at::Tensor&, std::optional<double> scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(dropout == 0 && !(mask[3] && bias.defined()),
                              "tessiq: fused attention has neither dropout nor a gradient of the mask");
  auto [of_query, of_key, of_value] = backward(gradient, query, key, value, bias, output, logsumexp, is_causal, scale);
  return {of_query, of_key, of_value, {}};
}

TORCH_LIBRARY_FRAGMENT(tessiq, library) {
  library.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? bias, bool is_causal, float? scale) -> (Tensor "
      "output, Tensor logsumexp)");
  library.def(
      "attention_backward(Tensor gradient, Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor output, Tensor "
      "logsumexp, bool is_causal, float? scale) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tessiq, PrivateUse1, library) {
  library.impl("attention", &forward);
  library.impl("attention_backward", &backward);
}

TORCH_LIBRARY_IMPL(tessiq, Meta, library) {
  library.impl("attention", &forward_shapes);
  library.impl("attention_backward", &backward_shapes);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_scaled_dot_product_fused_attention_overrideable", &fused);
  library.impl("_scaled_dot_product_fused_attention_overrideable_backward", &fused_backward);
}

}  // namespace
}  // namespace tessiq::pytorch

namespace at::native {
namespace {

int64_t choose_attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask,
                         double dropout, bool is_causal, std::optional<double> /*scale*/, bool enable_gqa) {
  const bool fused = tessiq::pytorch::is_fused(query, key, value, mask, dropout, is_causal, enable_gqa);
  return static_cast<int64_t>(fused ? SDPBackend::overrideable : SDPBackend::math);
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &choose_attention)

}  // namespace at::native
