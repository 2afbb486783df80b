// Three ways, fastest first: the bytes as they lie, a lender's kernel on both sides' memory, or a host copy.
//
// Equal element types and equal dense strides mean that one run of bytes is the whole copy. Everything else is a
// question of strides and conversions that PyTorch's kernels answer, so none of its rules are repeated here.
#include "pytorch/eager/copy.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include "pytorch/device/identity.h"
#include "pytorch/device/pinned_memory.h"
#include "pytorch/device/raise.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/host_mirror.h"
#include "pytorch/eager/lender.h"
#include "pytorch/eager/transfer_counts.h"

namespace tessiq::pytorch {
namespace {

bool is_ours(const at::Tensor& tensor) { return tensor.device().type() == kTessiq; }

// The first byte of the tensor, past any check for immutable storage that a plain copy need not repeat.
char* bytes_of(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  auto* start = static_cast<char*>(impl->unsafe_storage().unsafeGetStorageImpl()->data_ptr().get());
  return start == nullptr ? nullptr : start + static_cast<size_t>(impl->storage_offset()) * tensor.itemsize();
}

bool is_one_run(const at::Tensor& source, const at::Tensor& target) {
  return source.scalar_type() == target.scalar_type() && source.strides() == target.strides() &&
         source.is_non_overlapping_and_dense();
}

// Work already queued on `before` is done before anything queued on `after` from now on.
void order(Stream before, Stream after) {
  Device& first = device_at(before.device);
  Device& second = device_at(after.device);
  if (first.kind() != second.kind()) {
    value_or_raise(first.synchronize_stream(before));
    return;
  }
  const Event event = value_or_raise(first.create_event(Timing::kNo));
  Result<void> recorded = first.record_event(event, before);
  Result<void> waited = recorded ? second.wait_event(after, event) : Result<void>{};
  first.destroy_event(event);
  value_or_raise(recorded);
  value_or_raise(waited);
}

void copy_bytes_between_devices(const at::Tensor& source, const at::Tensor& target, Bytes size) {
  const DeviceIndex from = resolve(source.device());
  const DeviceIndex to = resolve(target.device());
  Device& reader = device_at(to);
  if (from == to) {
    value_or_raise(reader.copy_on_device(bytes_of(target), bytes_of(source), size, current_stream(to)));
    return;
  }
  if (device_at(from).kind() == DeviceKind::kHost) {
    value_or_raise(reader.copy_to_device(bytes_of(target), bytes_of(source), size, current_stream(to), Blocking::kYes));
  } else if (reader.kind() == DeviceKind::kHost) {
    value_or_raise(device_at(from).copy_to_host(bytes_of(target), bytes_of(source), size, current_stream(from),
                                                Blocking::kYes));
  } else if (reader.can_access_peer(device_at(from))) {
    // The source must be written before the copy reads it, and not reused before the copy has read it.
    order(current_stream(from), current_stream(to));
    value_or_raise(reader.copy_on_device(bytes_of(target), bytes_of(source), size, current_stream(to)));
    order(current_stream(to), current_stream(from));
  } else {
    const at::Tensor staged = host_copy_of_span(source);
    value_or_raise(reader.copy_to_device(bytes_of(target), bytes_of(staged), size, current_stream(to), Blocking::kYes));
  }
}

void copy_one_run(const at::Tensor& source, const at::Tensor& target, Blocking blocking) {
  const Bytes size{static_cast<size_t>(source.numel()) * source.itemsize()};
  count_transfer(source, target, size);
  if (is_ours(source) && is_ours(target)) {
    copy_bytes_between_devices(source, target, size);
    return;
  }
  const at::Tensor& host = is_ours(source) ? target : source;
  const DeviceIndex index = resolve((is_ours(source) ? source : target).device());
  const Stream stream = current_stream(index);
  // Ordinary memory may be freed or written by the caller as soon as this returns.
  const Blocking wait = is_pinned(bytes_of(host)) ? blocking : Blocking::kYes;
  if (is_ours(source)) {
    value_or_raise(device_at(index).copy_to_host(bytes_of(target), bytes_of(source), size, stream, wait));
  } else {
    value_or_raise(device_at(index).copy_to_device(bytes_of(target), bytes_of(source), size, stream, wait));
  }
}

std::optional<Lender> lender_of(const at::Tensor& tensor) {
  if (is_ours(tensor)) {
    return lender_for(resolve(tensor.device()));
  }
  return Lender{tensor.device(), tensor.device().is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU, nullptr};
}

// Lets PyTorch's copy kernel work on the memory of both sides. False where a side has no lender.
bool copy_by_lender(const at::Tensor& source, const at::Tensor& target, Blocking blocking) {
  if (fallback_mode() != FallbackMode::kBorrow) {
    return false;
  }
  const std::optional<Lender> source_lender = lender_of(source);
  const std::optional<Lender> target_lender = lender_of(target);
  if (!source_lender || !target_lender) {
    return false;
  }
  const at::Tensor& ours = is_ours(target) ? target : source;
  const DeviceIndex index = resolve(ours.device());
  const Lender& lender = is_ours(target) ? *target_lender : *source_lender;
  const LenderScope scope(lender, index);
  const at::Tensor from = is_ours(source) ? lend(source, *source_lender, /*written=*/false) : source;
  const at::Tensor to = is_ours(target) ? lend(target, *target_lender, /*written=*/true) : target;
  // Ordinary memory may be freed or written by the caller as soon as this returns.
  const at::Tensor& other = is_ours(target) ? source : target;
  to.copy_(from, blocking == Blocking::kNo && (!other.device().is_cpu() || is_pinned(bytes_of(other))));
  count_lent_copy(lender.key == c10::DispatchKey::CUDA);
  return true;
}

void write_span(const at::Tensor& source, const at::Tensor& target) {
  // Gaps between the elements travel too: they are read and written back unchanged.
  const at::Tensor mirror = host_copy_of_span(target);
  mirror.copy_(source);
  const DeviceIndex index = resolve(target.device());
  const size_t size = mirror.storage().nbytes() - static_cast<size_t>(mirror.storage_offset()) * mirror.itemsize();
  value_or_raise(device_at(index).copy_to_device(bytes_of(target), bytes_of(mirror), Bytes{size},
                                                 current_stream(index), Blocking::kYes));
}

void copy_through_host(const at::Tensor& source, const at::Tensor& target) {
  const at::Tensor from = is_ours(source) ? host_copy_of_span(source) : source;
  if (!is_ours(target)) {
    target.copy_(from);
  } else if (target.is_non_overlapping_and_dense()) {
    at::Tensor staged =
        at::empty_strided(target.sizes(), target.strides(), target.options().device(c10::DeviceType::CPU));
    staged.copy_(from);
    copy_one_run(staged, target, Blocking::kYes);
  } else {
    write_span(from, target);
  }
}

}  // namespace

void copy_values(const at::Tensor& source, const at::Tensor& target, Blocking blocking) {
  if (target.numel() == 0) {
    return;
  }
  at::assert_no_internal_overlap(target);
  if (source._is_zerotensor()) {
    target.zero_();
    return;
  }
  if (target.is_conj() || target.is_neg()) {
    // Writing through a lazy conjugate or negation is writing the same of the source into the plain tensor.
    copy_values(target.is_conj() ? source.conj() : source._neg_view(),
                target.is_conj() ? target.conj() : target._neg_view(), blocking);
    return;
  }
  if (source.is_conj() || source.is_neg()) {
    copy_values(source.resolve_conj().resolve_neg(), target, blocking);
    return;
  }
  const at::Tensor from = source.sizes() == target.sizes() ? source : source.expand(target.sizes());
  if (is_one_run(from, target)) {
    target.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()->mutable_data_ptr();
    copy_one_run(from, target, blocking);
    return;
  }
  if (!copy_by_lender(from, target, blocking)) {
    copy_through_host(from, target);
  }
}

}  // namespace tessiq::pytorch
