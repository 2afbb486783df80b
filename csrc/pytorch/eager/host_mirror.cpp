// Spans of storages, down and up again.
#include "pytorch/eager/host_mirror.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <limits>

#include "profiling/log.h"
#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "pytorch/device/storage_resize.h"
#include "pytorch/eager/copy.h"

namespace tessiq::pytorch {
namespace {

// Spans start at a multiple of this, so that an offset in any element type stays a whole number.
constexpr size_t kSpanAlignment = 16;

struct Span {
  const c10::StorageImpl* storage;
  size_t begin = std::numeric_limits<size_t>::max();  // bytes from the start of the storage
  size_t end = 0;
  c10::Storage mirror;
};

size_t offset_bytes(const at::Tensor& tensor) {
  return static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
}

size_t end_bytes(const at::Tensor& tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize(),
                                          static_cast<size_t>(tensor.storage_offset()));
}

const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

Span& span_of(c10::SmallVectorImpl<Span>& spans, const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(tensor);
  const auto found = std::ranges::find(spans, storage, &Span::storage);
  return found != spans.end()
             ? *found
             : (spans.push_back(Span{storage, std::numeric_limits<size_t>::max(), 0, {}}), spans.back());
}

void download(Span& span) {
  if (span.begin >= span.end) {
    span.begin = span.end = 0;
  }
  const size_t size = span.end - span.begin;
  span.mirror = c10::Storage(c10::Storage::use_byte_size_t(), size, c10::GetCPUAllocator()->allocate(size),
                             c10::GetCPUAllocator(), /*resizable=*/true);
  const auto* data = static_cast<const char*>(span.storage->data_ptr().get());
  if (size > 0 && data != nullptr) {
    const profiling::OpenTransfer region(profiling::current_log(), profiling::Direction::kToHost, Bytes{size});
    const DeviceIndex index = resolve(span.storage->device());
    value_or_raise(device_at(index).copy_to_host(span.mirror.mutable_data(), data + span.begin, Bytes{size},
                                                 current_stream(index), Blocking::kYes));
  }
}

at::Tensor mirrored(const at::Tensor& tensor, const Span& span) {
  const c10::TensorImpl* from = tensor.unsafeGetTensorImpl();
  constexpr c10::DispatchKeySet lazy_bits(
      {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(span.mirror), c10::DispatchKeySet(c10::DispatchKey::CPU) | (from->key_set() & lazy_bits),
      from->dtype());
  const size_t offset = tensor.numel() == 0 ? 0 : (offset_bytes(tensor) - span.begin) / tensor.itemsize();
  result.unsafeGetTensorImpl()->set_sizes_and_strides(from->sizes(), from->strides(), static_cast<int64_t>(offset));
  if (from->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

}  // namespace

void mirror_on_host(c10::SmallVectorImpl<TensorUse>& uses) {
  c10::SmallVector<Span, 6> spans;
  for (const TensorUse& use : uses) {
    Span& span = span_of(spans, use.own);
    if (use.own.numel() > 0) {
      span.begin = std::min(span.begin, offset_bytes(use.own) / kSpanAlignment * kSpanAlignment);
      span.end = std::max(span.end, end_bytes(use.own));
    }
  }
  for (Span& span : spans) {
    download(span);
  }
  for (TensorUse& use : uses) {
    use.lent = mirrored(use.own, span_of(spans, use.own));
  }
}

void write_back(const c10::SmallVectorImpl<TensorUse>& uses) {
  for (const TensorUse& use : uses) {
    if (!use.written) {
      continue;
    }
    c10::TensorImpl* own = use.own.unsafeGetTensorImpl();
    if (own->sizes() != use.lent.sizes() || own->strides() != use.lent.strides()) {
      own->set_sizes_and_strides(use.lent.sizes(), use.lent.strides());
      c10::StorageImpl* storage = own->unsafe_storage().unsafeGetStorageImpl();
      if (use.own.numel() > 0 && end_bytes(use.own) > storage->nbytes()) {
        resize_storage(storage, end_bytes(use.own));
      }
    }
    copy_values(use.lent, use.own, Blocking::kYes);
  }
}

at::Tensor host_copy_of_span(const at::Tensor& tensor) {
  c10::SmallVector<TensorUse, 1> use;
  use.push_back({tensor, {}, false});
  mirror_on_host(use);
  return use[0].lent;
}

at::Tensor upload(const at::Tensor& host, DeviceIndex index) {
  if (!host.defined()) {
    return host;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(host.layout() == c10::kStrided && !host.is_quantized() && !host.is_nested(),
                              "tessiq devices hold dense tensors only, and this operator returned one of layout ",
                              host.layout(), host.is_quantized() ? " that is quantized" : "");
  // Strides of a result are part of it; a result that overlaps itself is packed, since it is nobody's view.
  const bool overlaps = at::has_internal_overlap(host) != at::MemOverlap::No;
  const c10::DispatchKeySet key(c10::DispatchKey::PrivateUse1);
  at::Tensor result = overlaps ? at::Tensor(at::detail::empty_generic(host.sizes(), allocator_for(index), key,
                                                                      host.scalar_type(), std::nullopt))
                               : at::Tensor(at::detail::empty_strided_generic(
                                     host.sizes(), host.strides(), allocator_for(index), key, host.scalar_type()));
  copy_values(host, result, Blocking::kYes);
  return result;
}

}  // namespace tessiq::pytorch
