// What PyTorch asks about the backend as a whole: is it there, how many devices, which memory is whose.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/generator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/pinned_memory.h"
#include "pytorch/device/raise.h"
#include "pytorch/device/storage_resize.h"

namespace tessiq::pytorch {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  // The reference device is always there, so this neither throws nor creates a context.
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void init() const override { registry(); }

  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(registry().device_count()); }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    registry();
    value_or_raise(set_current_device(resolve(device)));
  }
  c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(to_int(current_device())); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex previous = getCurrentDevice();
    setCurrentDevice(device);
    return previous;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    // PyTorch passes -1 for "leave it", and expects -1 back so that the way back does nothing either.
    return device < 0 ? c10::DeviceIndex{-1} : exchangeDevice(device);
  }

  bool isPinnedPtr(const void* data) const override {
    // torch.empty(pin_memory=True) takes PyTorch's own CUDA allocator where there is CUDA, and asks here afterwards.
    return is_pinned(data) || (at::hasCUDA() && at::detail::getCUDAHooks().isPinnedPtr(data));
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_memory(); }
  c10::Device getDeviceFromPtr(void* data) const override {
    const std::optional<DeviceIndex> owner = owner_of(data);
    TORCH_CHECK(owner, "the pointer is not the start of a block that a tessiq device handed out");
    return to_torch(*owner);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(resolve(device));
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override { return new_generator(resolve(device)); }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    resize_storage(storage.unsafeGetStorageImpl(), size);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace tessiq::pytorch
