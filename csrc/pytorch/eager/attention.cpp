// Which form of scaled_dot_product_attention runs: the decomposed one, until a fused kernel is written.
//
// The choice is registered with PyTorch's stub. The operator _fused_sdp_choice itself is composite, and a kernel for
// it under our key would not be asked.
#include <ATen/SDPBackend.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>

namespace at::native {
namespace {

int64_t choose_attention(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, double, bool,
                         std::optional<double>, bool) {
  return static_cast<int64_t>(SDPBackend::math);
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &choose_attention)

}  // namespace at::native
