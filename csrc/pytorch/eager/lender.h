// Whose kernels can run on a device's memory as it lies: PyTorch's CPU kernels for the reference device, PyTorch's
// CUDA kernels for a GPU.
//
// Decides how a tensor of ours looks to such a kernel: a new tensor over the same storage, never the caller's own
// with another label. Leaves to the fallback which operators may be lent.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>

#include "runtime/device.h"

namespace tessiq::pytorch {

struct Lender {
  c10::Device device;
  c10::DispatchKey key;
  c10::Allocator* allocator;
};

// None where PyTorch has no kernels for the device: a GPU under a PyTorch without CUDA, or other hardware.
// The first call for a GPU starts PyTorch's own CUDA state.
std::optional<Lender> lender_for(DeviceIndex index);

// `tensor` as the lender's kernels see it. `written` storage is made private first if it is still copy-on-write.
at::Tensor lend(const at::Tensor& tensor, const Lender& lender, bool written);
// A tensor that a lender's kernel made, as a tensor of device `index` over the same memory.
at::Tensor adopt(const at::Tensor& tensor, DeviceIndex index);
// After the kernel: a resize of the lent tensor, repeated on the caller's own.
void follow_resize(const at::Tensor& own, const at::Tensor& lent);

// While it lives, the lender's current device and stream are those of device `index`, and dispatch stays below
// autograd and autocast.
class LenderScope {
 public:
  LenderScope(const Lender& lender, DeviceIndex index);
  ~LenderScope();
  LenderScope(const LenderScope&) = delete;
  LenderScope& operator=(const LenderScope&) = delete;

 private:
  c10::impl::ExcludeDispatchKeyGuard below_autograd_;
  const c10::impl::DeviceGuardImplInterface* guard_ = nullptr;
  std::optional<c10::Device> previous_device_;
  std::optional<c10::Stream> previous_stream_;
};

}  // namespace tessiq::pytorch
