// Under torch.autocast("tessiq"): PyTorch's own lists of what runs in a lower precision, in float32, or in the widest
// type of its arguments. Everything else keeps the types it is given.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {
namespace {

at::Tensor refuse_binary_cross_entropy(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                                       int64_t) {
  TORCH_CHECK(false,
              "binary_cross_entropy takes a logarithm that half precision cannot hold and is not allowed under "
              "autocast; use binary_cross_entropy_with_logits, or leave autocast for it");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) { library.fallback(torch::CppFunction::makeFallthrough()); }

// The macros below name the library m.
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define TESSIQ_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define TESSIQ_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define TESSIQ_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define TESSIQ_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(TESSIQ_LOWER_PRECISION)
  AT_FORALL_FP32(TESSIQ_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(TESSIQ_FP32_SET_OPT_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(TESSIQ_PROMOTE)
#undef TESSIQ_LOWER_PRECISION
#undef TESSIQ_FP32
#undef TESSIQ_FP32_SET_OPT_DTYPE
#undef TESSIQ_PROMOTE
  m.impl("binary_cross_entropy", &refuse_binary_cross_entropy);
}

}  // namespace
}  // namespace at::autocast
