// Three ways, fastest first: the bytes as they lie, a lender's kernel on both sides' memory, or a host copy.
//
// Equal element types and equal dense strides mean that one run of bytes is the whole copy. Everything else is a
// question of strides and conversions that PyTorch's kernels answer, so none of its rules are repeated here.
#include "pytorch/eager/copy.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <memory>
#include <optional>

#include "profiling/log.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/pinned_memory.h"
#include "pytorch/device/raise.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/host_mirror.h"
#include "pytorch/eager/lender.h"
#include "pytorch/eager/transfer_counts.h"

namespace tessiq::pytorch {
namespace {

using profiling::Direction;
using profiling::Log;
using profiling::OpenTransfer;

bool is_ours(const at::Tensor& tensor) { return tensor.device().type() == kTessiq; }
bool is_ours_or_host(const at::Tensor& tensor) { return is_ours(tensor) || tensor.device().is_cpu(); }

// The first byte of the tensor, past any check for immutable storage that a plain copy need not repeat.
char* bytes_of(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  auto* start = static_cast<char*>(impl->unsafe_storage().unsafeGetStorageImpl()->data_ptr().get());
  return start == nullptr ? nullptr : start + static_cast<size_t>(impl->storage_offset()) * tensor.itemsize();
}

bool is_one_run(const at::Tensor& source, const at::Tensor& target) {
  return is_ours_or_host(source) && is_ours_or_host(target) && source.scalar_type() == target.scalar_type() &&
         source.strides() == target.strides() && source.is_non_overlapping_and_dense() && !source.is_conj() &&
         !source.is_neg();
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
    value_or_raise(
        device_at(from).copy_to_host(bytes_of(target), bytes_of(source), size, current_stream(from), Blocking::kYes));
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

Direction direction_of(const at::Tensor& source, const at::Tensor& target) {
  return !is_ours(source) ? Direction::kToDevice : is_ours(target) ? Direction::kBetweenDevices : Direction::kToHost;
}

// What a profile counts as a transfer; a copy within one device is the work of the node that makes it.
Log* log_of_transfer(const at::Tensor& source, const at::Tensor& target) {
  return source.device() == target.device() ? nullptr : profiling::current_log();
}

void copy_one_run(const at::Tensor& source, const at::Tensor& target, Blocking blocking) {
  const Bytes size{static_cast<size_t>(source.numel()) * source.itemsize()};
  const OpenTransfer region(log_of_transfer(source, target), direction_of(source, target), size);
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

// One side of a copy as a lender's kernel sees it; a tensor of PyTorch's own devices is seen as it is.
struct LentSide {
  at::Tensor tensor;
  std::unique_ptr<LenderScope> scope;  // the lender works in our device's stream while it lives
};

std::optional<LentSide> lend_side(const at::Tensor& tensor, bool written) {
  if (!is_ours(tensor)) {
    return LentSide{tensor, nullptr};
  }
  const DeviceIndex index = resolve(tensor.device());
  const std::optional<Lender> lender = lender_for(index);
  if (!lender) {
    return std::nullopt;
  }
  return LentSide{lend(tensor, *lender, written), std::make_unique<LenderScope>(*lender, index)};
}

// Lets PyTorch's copy kernel work on the memory of both sides. False where a side has no lender.
bool copy_by_lender(const at::Tensor& source, const at::Tensor& target, Blocking blocking) {
  if (fallback_mode() != FallbackMode::kBorrow) {
    return false;
  }
  std::optional<LentSide> from = lend_side(source, /*written=*/false);
  std::optional<LentSide> to = lend_side(target, /*written=*/true);
  if (!from || !to) {
    return false;
  }
  // Ordinary memory may be freed or written by the caller as soon as this returns.
  const auto may_outlast = [](const at::Tensor& side) { return !side.device().is_cpu() || is_pinned(bytes_of(side)); };
  const bool non_blocking = blocking == Blocking::kNo && may_outlast(from->tensor) && may_outlast(to->tensor);
  const OpenTransfer region(log_of_transfer(source, target), direction_of(source, target),
                            Bytes{static_cast<size_t>(source.numel()) * source.itemsize()});
  to->tensor.copy_(from->tensor, non_blocking);
  count_lent_copy(from->tensor.device().is_cuda() || to->tensor.device().is_cuda());
  // The scopes restore in the opposite order of their making.
  to->scope.reset();
  from->scope.reset();
  return true;
}

void write_span(const at::Tensor& source, const at::Tensor& target) {
  // Gaps between the elements travel too: they are read and written back unchanged.
  const at::Tensor mirror = host_copy_of_span(target);
  mirror.copy_(source);
  const DeviceIndex index = resolve(target.device());
  const size_t size = mirror.storage().nbytes() - static_cast<size_t>(mirror.storage_offset()) * mirror.itemsize();
  const OpenTransfer region(profiling::current_log(), Direction::kToDevice, Bytes{size});
  value_or_raise(device_at(index).copy_to_device(bytes_of(target), bytes_of(mirror), Bytes{size}, current_stream(index),
                                                 Blocking::kYes));
}

void copy_through_host(const at::Tensor& source, const at::Tensor& target) {
  const at::Tensor from = is_ours(source) ? host_copy_of_span(source) : source.cpu();
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
  // A lazy conjugate or negation of the source is left to PyTorch's copy kernels, which know both.
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
