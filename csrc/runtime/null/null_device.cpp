// Addresses without memory, and refusals.
#include "runtime/null/null_device.h"

#include <sys/mman.h>

#include <string>

#include "support/log.h"

namespace tessiq {
namespace {

// No bytes to move is no refusal: the callers of every device may rely on it.
Result<void> refuse(Bytes size) {
  if (size.value == 0) {
    return {};
  }
  return unsupported("the null device keeps no contents, so there is nothing to copy or fill");
}

}  // namespace

Result<DeviceProperties> NullDevice::properties() {
  DeviceProperties found;
  found.name = "null device";
  return found;
}

Result<void*> NullDevice::allocate(Bytes size) {
  if (size.value == 0) {
    return static_cast<void*>(nullptr);
  }
  // Whole pages, which are multiples of kDeviceAlignment.
  void* pointer = mmap(nullptr, size.value, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pointer == MAP_FAILED) {
    return resource_exhausted("the null device has no address range of " + std::to_string(size.value) + " bytes");
  }
  return pointer;
}

void NullDevice::deallocate(void* pointer, Bytes size) noexcept {
  if (pointer != nullptr && munmap(pointer, size.value) != 0) {
    log_warning("runtime", "the null device was given back memory it does not own");
  }
}

Result<void> NullDevice::copy_to_device(void*, const void*, Bytes size, Stream stream, Blocking) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return refuse(size);
}

Result<void> NullDevice::copy_to_host(void*, const void*, Bytes size, Stream stream, Blocking) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return refuse(size);
}

Result<void> NullDevice::copy_on_device(void*, const void*, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return refuse(size);
}

Result<void> NullDevice::fill_bytes(void*, uint8_t, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return refuse(size);
}

}  // namespace tessiq
