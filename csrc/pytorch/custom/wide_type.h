// What references compute in: half types in float32, others in their own.
//
// Part of the installed headers: it uses nothing that is compiled into tessiq.
#pragma once

#include <ATen/core/Tensor.h>

namespace tessiq {
namespace custom __attribute__((visibility("hidden"))) {

  inline bool is_half(const at::Tensor& x) { return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16; }
  inline at::Tensor wide(const at::Tensor& x) { return is_half(x) ? x.to(at::kFloat) : x; }

}  // namespace custom
}  // namespace tessiq
