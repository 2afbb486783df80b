// PyTorch's names for devices and streams, and the runtime's, each in terms of the other.
//
// Decides that an absent or negative index means the calling thread's current device, everywhere. Everything that
// leaves here for PyTorch carries a resolved index.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <optional>

#include "runtime/device.h"
#include "runtime/registry.h"

namespace tessiq::pytorch {

inline constexpr c10::DeviceType kTessiq = c10::DeviceType::PrivateUse1;

// The registry, discovered on first use, with the fork check installed.
DeviceRegistry& registry();
// True in a child of a process that had already started CUDA; the driver does not work there.
bool in_bad_fork();

inline DeviceIndex resolve(c10::DeviceIndex index) {
  return index < 0 ? current_device() : static_cast<DeviceIndex>(index);
}
// Raises for a device of another type.
DeviceIndex resolve(c10::Device device);
DeviceIndex resolve(std::optional<c10::Device> device);

inline c10::Device to_torch(DeviceIndex index) {
  return c10::Device(kTessiq, static_cast<c10::DeviceIndex>(to_int(index)));
}
inline c10::Stream to_torch(Stream stream) {
  return c10::Stream(c10::Stream::UNSAFE, to_torch(stream.device), stream.id);
}
inline Stream from_torch(const c10::Stream& stream) { return Stream{resolve(stream.device()), stream.id()}; }

// The same queue under PyTorch's CUDA names: GPU index i is ordinal i-1 there, and a stream is known by its handle.
c10::Device to_cuda(DeviceIndex index);
c10::Stream to_cuda(Stream stream);

// Raises when there is no such device, and for a GPU in a forked child.
Device& device_at(DeviceIndex index);
CachingAllocator& caching_allocator_at(DeviceIndex index);

}  // namespace tessiq::pytorch
