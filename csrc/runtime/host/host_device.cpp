// Memory and copies of the reference device.
#include "runtime/host/host_device.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace tessiq {
namespace {

Bytes pages_as_bytes(int name) {
  const long pages = sysconf(name);
  const long page_size = sysconf(_SC_PAGESIZE);
  return Bytes{pages > 0 && page_size > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page_size) : 0};
}

}  // namespace

Result<DeviceProperties> HostDevice::properties() {
  DeviceProperties found;
  found.name = "host reference device";
  found.total_memory = pages_as_bytes(_SC_PHYS_PAGES);
  const unsigned threads = std::thread::hardware_concurrency();
  found.multiprocessor_count = threads > 0 ? static_cast<int>(threads) : 1;
  return found;
}

Result<void*> HostDevice::allocate(Bytes size) { return allocate_host_memory(size); }

void HostDevice::deallocate(void* pointer, Bytes) noexcept { std::free(pointer); }

Result<void> HostDevice::copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking) {
  return copy_on_device(device, host, size, stream);
}

Result<void> HostDevice::copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking) {
  return copy_on_device(host, device, size, stream);
}

Result<void> HostDevice::copy_on_device(void* target, const void* source, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  if (size.value > 0) {
    // memmove: a tensor may be copied onto a view of itself, which a GPU's copy also bears in practice.
    std::memmove(target, source, size.value);
  }
  return {};
}

Result<void> HostDevice::fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  if (size.value > 0) {
    std::memset(target, value, size.value);
  }
  return {};
}

Result<MemoryInfo> HostDevice::memory_info() {
  const MemoryInfo info{pages_as_bytes(_SC_AVPHYS_PAGES), pages_as_bytes(_SC_PHYS_PAGES)};
  if (info.total.value == 0) {
    return unsupported("the operating system does not say how much memory there is");
  }
  return info;
}

bool HostDevice::can_access_peer(const Device& other) const { return other.kind() == DeviceKind::kHost; }

}  // namespace tessiq
