// The reference device: its "device memory" is ordinary host memory, and nothing runs asynchronously.
//
// Decides that index 0 always exists, so no code handles a runtime without devices, and that everything above Device
// can be tested on any machine.
#pragma once

#include "runtime/inline_streams.h"

namespace tessiq {

class HostDevice final : public InlineStreamDevice {
 public:
  explicit HostDevice(DeviceIndex index = DeviceIndex{0}) : InlineStreamDevice(index, DeviceKind::kHost) {}

  DeviceKind kind() const override { return DeviceKind::kHost; }
  Ordinal ordinal() const override { return Ordinal{0}; }
  Result<DeviceProperties> properties() override;

  Result<void*> allocate(Bytes size) override;
  void deallocate(void* pointer, Bytes size) noexcept override;

  Result<void> copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_on_device(void* target, const void* source, Bytes size, Stream stream) override;
  Result<void> fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) override;

  Result<MemoryInfo> memory_info() override;
  bool can_access_peer(const Device& other) const override;
};

}  // namespace tessiq
