// Sharing memory with PyTorch's CPU and CUDA kernels, both ways.
#include "pytorch/eager/lender.h"

#include <ATen/Context.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/shared_storage.h"

namespace tessiq::pytorch {
namespace {

constexpr c10::DispatchKeySet kLazyBits({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative,
                                         c10::DispatchKey::ZeroTensor});

bool pytorch_has_cuda() {
  static const bool has = [] {
    if (!at::Context::hasCUDA()) {
      return false;
    }
    // Before any kernel runs on borrowed memory: PyTorch sets up its context, handles and allocator here.
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    return true;
  }();
  return has;
}

at::Tensor over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  const c10::TensorImpl* from = like.unsafeGetTensorImpl();
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key) | (from->key_set() & kLazyBits), from->dtype());
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  if (from->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  return result;
}

}  // namespace

std::optional<Lender> lender_for(DeviceIndex index) {
  switch (device_at(index).kind()) {
    case DeviceKind::kHost:
      return Lender{c10::Device(c10::DeviceType::CPU), c10::DispatchKey::CPU, c10::GetCPUAllocator()};
    case DeviceKind::kCuda:
      if (pytorch_has_cuda()) {
        return Lender{to_cuda(index), c10::DispatchKey::CUDA, c10::GetAllocator(c10::DeviceType::CUDA)};
      }
      return std::nullopt;
    case DeviceKind::kNull:
      break;
  }
  return std::nullopt;
}

at::Tensor lend(const at::Tensor& tensor, const Lender& lender, bool written) {
  const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  if (written) {
    storage.unsafeGetStorageImpl()->mutable_data_ptr();
  }
  return over(share_storage(storage, lender.device, lender.allocator), lender.key, tensor);
}

at::Tensor adopt(const at::Tensor& tensor, DeviceIndex index) {
  if (!tensor.defined()) {
    return tensor;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided && !tensor.is_quantized() && !tensor.is_nested(),
                              "tessiq devices hold dense tensors only, and this operator returned one of layout ",
                              tensor.layout(), tensor.is_quantized() ? " that is quantized" : "");
  const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  return over(share_storage(storage, to_torch(index), allocator_for(index)), c10::DispatchKey::PrivateUse1, tensor);
}

void follow_resize(const at::Tensor& own, const at::Tensor& lent) {
  c10::TensorImpl* ours = own.unsafeGetTensorImpl();
  const c10::TensorImpl* theirs = lent.unsafeGetTensorImpl();
  c10::StorageImpl* storage = ours->unsafe_storage().unsafeGetStorageImpl();
  c10::StorageImpl* lent_storage = theirs->unsafe_storage().unsafeGetStorageImpl();
  if (lent_storage->data_ptr().get() != storage->data_ptr().get() || lent_storage->nbytes() != storage->nbytes()) {
    // The kernel gave the tensor other memory. Every tensor of the storage has to see it, so the storage changes.
    const DeviceIndex index = resolve(storage->device());
    c10::Storage grown = share_storage(theirs->unsafe_storage(), to_torch(index), allocator_for(index));
    const size_t size = grown.nbytes();
    storage->set_data_ptr_noswap(std::move(grown.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks()));
    storage->set_nbytes(size);
  }
  if (ours->sizes() != theirs->sizes() || ours->strides() != theirs->strides() ||
      ours->storage_offset() != theirs->storage_offset()) {
    ours->set_sizes_and_strides(theirs->sizes(), theirs->strides(), theirs->storage_offset());
  }
}

LenderScope::LenderScope(const Lender& lender, DeviceIndex index)
    : below_autograd_(c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset) {
  if (lender.device.type() != c10::DeviceType::CUDA) {
    return;
  }
  guard_ = c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA);
  previous_device_ = guard_->exchangeDevice(lender.device);
  previous_stream_ = guard_->exchangeStream(to_cuda(current_stream(index)));
}

LenderScope::~LenderScope() {
  if (guard_ != nullptr) {
    guard_->exchangeStream(*previous_stream_);
    guard_->uncheckedSetDevice(*previous_device_);
  }
}

}  // namespace tessiq::pytorch
