// The operators by which values enter and leave a device: copies, single values, and streams that hold memory back.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/eager/copy.h"
#include "pytorch/eager/host_mirror.h"

namespace tessiq::pytorch {
namespace {

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& target, bool non_blocking) {
  TORCH_CHECK(self.defined() && target.defined(), "copy of an undefined tensor");
  copy_values(self, target, non_blocking ? Blocking::kNo : Blocking::kYes);
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& target) {
  if (self.sizes() != target.sizes()) {
    target.resize_(self.sizes());
  }
  return copy_from(self, target, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(), " elements cannot be converted to Scalar");
  return at::_local_scalar_dense(host_copy_of_span(self));
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  record_data_on_stream(self.unsafeGetTensorImpl()->unsafe_storage().data_ptr(), stream);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &local_scalar_dense);
  library.impl("record_stream", &record_stream);
}

// PyTorch resolves a lazy conjugate or negation by copying it, and such a copy arrives here. Resolving it once more
// before this kernel would not end; PyTorch lets its own copy_ through in the same way.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, library) { library.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

}  // namespace
}  // namespace tessiq::pytorch
