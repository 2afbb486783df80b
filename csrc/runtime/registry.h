// The devices of this process: which index stands for which Device, its allocator, and each thread's current state.
//
// Decides index 0 = host reference device, 1.. = GPUs in driver order. Built on first use and never destroyed, since
// tensors may be freed after static destructors have begun.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/caching_allocator.h"
#include "runtime/device.h"

namespace tessiq {

class DeviceRegistry {
 public:
  // Reference device plus what CUDA discovery finds. Never fails: without a usable GPU it holds the reference alone,
  // and discovery_note() says why.
  static DeviceRegistry& instance();

  // For tests: any set of devices.
  explicit DeviceRegistry(std::vector<std::unique_ptr<Device>> devices, std::string discovery_note = {});

  int device_count() const { return static_cast<int>(devices_.size()); }
  // kInvalidArgument names the index and how many devices there are.
  Result<Device*> device(DeviceIndex index) const;
  Result<CachingAllocator*> allocator(DeviceIndex index) const;
  // Why there is no GPU ("no NVIDIA driver: libcuda.so.1 not found"), empty where there is one.
  const std::string& discovery_note() const { return discovery_note_; }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<CachingAllocator>> allocators_;
  std::string discovery_note_;
};

// The calling thread's current device; starts at index 0.
DeviceIndex current_device();
Result<void> set_current_device(DeviceIndex index);
// For a caller that already checked the index, such as a guard's destructor.
void set_current_device_unchecked(DeviceIndex index) noexcept;

// The calling thread's current stream on `device`; starts as the default stream.
Stream current_stream(DeviceIndex device);
void set_current_stream(Stream stream);

// Makes a device current for a scope. Kernels registered by hand get no guard from PyTorch, so each uses one of these.
class ScopedDevice {
 public:
  explicit ScopedDevice(DeviceIndex index) : previous_(current_device()) { set_current_device_unchecked(index); }
  ~ScopedDevice() { set_current_device_unchecked(previous_); }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;

 private:
  DeviceIndex previous_;
};

}  // namespace tessiq
