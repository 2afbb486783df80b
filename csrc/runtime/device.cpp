// What a device does where its backend has nothing of its own to say.
#include "runtime/device.h"

#include <cstdlib>

namespace tessiq {

Result<MemoryInfo> Device::memory_info() { return unsupported("this device does not report free and total memory"); }

bool Device::can_access_peer(const Device&) const { return false; }

Result<void*> Device::allocate_pinned(Bytes size) { return allocate_host_memory(size); }

void Device::deallocate_pinned(void* pointer, Bytes) noexcept { std::free(pointer); }

Result<void*> allocate_host_memory(Bytes size) {
  if (size.value == 0) {
    return static_cast<void*>(nullptr);
  }
  // Beyond PTRDIFF_MAX no object can exist, and rounding up could wrap to a small request that succeeds.
  const bool possible = size.value <= static_cast<size_t>(PTRDIFF_MAX) - kDeviceAlignment;
  const size_t rounded = (size.value + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
  void* pointer = possible ? std::aligned_alloc(kDeviceAlignment, rounded) : nullptr;
  if (pointer == nullptr) {
    return resource_exhausted("out of host memory: " + std::to_string(size.value) + " bytes were asked for");
  }
  return pointer;
}

}  // namespace tessiq
