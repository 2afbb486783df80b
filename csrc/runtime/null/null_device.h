// The template of a port: the least that a new kind of hardware must write, with nothing behind it.
//
// A port copies this folder, gives DeviceKind a row, and fills in, in this order:
//   1. memory: allocate and deallocate, aligned to kDeviceAlignment;
//   2. the three copies and fill_bytes, each queued on the stream it is given; a blocking copy waits for its stream;
//   3. streams and events. A device that has finished each call when it returns keeps InlineStreamDevice; another
//      derives from Device and writes them, as runtime/cuda does;
//   4. a discovery function like runtime/cuda/discovery.h, called by DeviceRegistry::instance.
// It is done when tests/cpp/runtime/device_conformance_tests.cpp passes for it without skips.
//
// This device holds addresses and no contents. It hands out address ranges that nothing is mapped to, so that a stray
// read or write faults, and refuses to copy or fill: a copy that did nothing would be a wrong answer in silence.
#pragma once

#include "runtime/inline_streams.h"

namespace tessiq {

class NullDevice final : public InlineStreamDevice {
 public:
  explicit NullDevice(DeviceIndex index) : InlineStreamDevice(index, DeviceKind::kNull) {}

  DeviceKind kind() const override { return DeviceKind::kNull; }
  Ordinal ordinal() const override { return Ordinal{0}; }
  Result<DeviceProperties> properties() override;

  Result<void*> allocate(Bytes size) override;
  void deallocate(void* pointer, Bytes size) noexcept override;

  Result<void> copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_on_device(void* target, const void* source, Bytes size, Stream stream) override;
  Result<void> fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) override;
};

}  // namespace tessiq
