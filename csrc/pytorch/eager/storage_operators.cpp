// Operators that change what a tensor points at, or how much memory lies there, in place.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/set_native.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/storage_resize.h"

namespace tessiq::pytorch {
namespace {

void grow_to_hold(c10::TensorImpl* tensor) {
  if (tensor->numel() == 0) {
    return;
  }
  const size_t needed = at::detail::computeStorageNbytes(tensor->sizes(), tensor->strides(), tensor->dtype().itemsize(),
                                                         static_cast<size_t>(tensor->storage_offset()));
  c10::StorageImpl* storage = tensor->unsafe_storage().unsafeGetStorageImpl();
  if (needed > storage->nbytes()) {
    resize_storage(storage, needed);
  }
}

const at::Tensor& resize_(const at::Tensor& self, c10::SymIntArrayRef symbolic_size,
                          std::optional<c10::MemoryFormat> memory_format) {
  const c10::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(symbolic_size);
  at::detail::check_size_nonnegative(size);
  c10::TensorImpl* tensor = self.unsafeGetTensorImpl();
  const ScopedDevice current(resolve(self.device()));
  if (tensor->sizes() != size) {
    tensor->set_sizes_contiguous(size);
    grow_to_hold(tensor);
  }
  if (memory_format) {
    TORCH_CHECK(*memory_format != c10::MemoryFormat::Preserve, "Unsupported memory format", *memory_format);
    tensor->empty_tensor_restride(*memory_format);
  }
  return self;
}

at::Tensor& set_storage_(at::Tensor& self, c10::Storage source, c10::SymInt symbolic_offset,
                         c10::SymIntArrayRef symbolic_size, c10::SymIntArrayRef symbolic_stride) {
  const int64_t offset = symbolic_offset.guard_int(__FILE__, __LINE__);
  const c10::IntArrayRef size = C10_AS_INTARRAYREF_SLOW(symbolic_size);
  const c10::IntArrayRef stride = C10_AS_INTARRAYREF_SLOW(symbolic_stride);
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  c10::TensorImpl* tensor = self.unsafeGetTensorImpl();
  tensor->set_storage_offset(offset);
  // An absent stride means contiguous.
  if (stride.data() != nullptr) {
    tensor->set_sizes_and_strides(size, stride);
  } else {
    tensor->set_sizes_contiguous(size);
  }
  grow_to_hold(tensor);
  return self;
}

at::Tensor& set_whole_storage_(at::Tensor& self, c10::Storage source) {
  const int64_t elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  const c10::SymInt size[] = {elements};
  return set_storage_(self, std::move(source), 0, size, {});
}

at::Tensor& set_empty_(at::Tensor& self) {
  const DeviceIndex index = resolve(self.device());
  c10::Allocator* allocator = allocator_for(index);
  c10::Storage nothing(c10::Storage::use_byte_size_t(), 0, allocator->allocate(0), allocator, /*resizable=*/true);
  return set_whole_storage_(self, std::move(nothing));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("resize_", &resize_);
  library.impl("set_.source_Storage_storage_offset", &set_storage_);
  library.impl("set_.source_Storage", &set_whole_storage_);
  library.impl("set_.source_Tensor", &at::native::set_tensor_);
  library.impl("set_", &set_empty_);
}

}  // namespace
}  // namespace tessiq::pytorch
