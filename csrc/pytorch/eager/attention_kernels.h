// Fused attention by PyTorch's own libraries, on memory that is lent to them.
//
// Decides which library computes a call, and what is kept between the two passes: the output and the logarithm of the
// sum of exponentials, the same whichever library made them. What every library refuses is computed in steps.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <utility>

namespace tessiq::pytorch {

struct AttentionOptions {
  bool is_causal = false;
  std::optional<double> scale;
};

// query (B, H, Sq, D), key and value (B, Hkv, Sk, D) with H a multiple of Hkv, of one half type, on one device of ours;
// bias undefined or broadcasting to (B, H, Sq, Sk), of the same type.
// Gives the output (B, H, Sq, D), heads next to the innermost axis in memory, and (B, H, Sq) in float32, packed.
std::pair<at::Tensor, at::Tensor> attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                            const at::Tensor& bias, const AttentionOptions& options);

// Gradients of query, key and value, laid out as the output is.
std::array<at::Tensor, 3> attention_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                                             const at::Tensor& value, const at::Tensor& bias, const at::Tensor& output,
                                             const at::Tensor& logsumexp, const AttentionOptions& options);

}  // namespace tessiq::pytorch
