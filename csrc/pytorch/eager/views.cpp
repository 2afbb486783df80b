// Operators that only change metadata. ATen's implementations work on any device, but are registered for its own.
//
// Every other view of ATen is a composite that ends in one of these.
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

namespace tessiq::pytorch {
namespace {

at::Tensor as_strided(const at::Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride,
                      std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
      offset ? std::optional(offset->guard_int(__FILE__, __LINE__)) : std::nullopt);
}

at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef size) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(size));
}

at::Tensor reshape_alias(const at::Tensor& self, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("as_strided", &as_strided);
  library.impl("view", &view);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("view_as_real", &at::native::view_as_real);
  library.impl("view_as_complex", &at::native::view_as_complex);
}

}  // namespace
}  // namespace tessiq::pytorch
