// PyTorch's view of current device, streams and events.
//
// Leaves what they are to the runtime. A guard call may carry index -1, so every stream handed out names its resolved
// device; calls that PyTorch makes from destructors must not throw.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <memory>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "support/log.h"

namespace tessiq::pytorch {
namespace {

// What PyTorch holds as void*: queries name no device, so the event remembers its own.
struct DeviceEvent {
  DeviceIndex device;
  Event event;
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kTessiq; }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device previous = getDevice();
    setDevice(device);
    return previous;
  }
  c10::Device getDevice() const override { return to_torch(current_device()); }
  void setDevice(c10::Device device) const override {
    const DeviceIndex index = resolve(device);
    if (index != current_device()) {
      registry();
      value_or_raise(set_current_device(index));
    }
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) {
      set_current_device_unchecked(static_cast<DeviceIndex>(device.index()));
    }
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    try {
      return static_cast<c10::DeviceIndex>(registry().device_count());
    } catch (...) {
      return 0;
    }
  }
  // Every scalar type can be stored; what has no kernel falls back.
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }

  c10::Stream getStream(c10::Device device) const override { return to_torch(current_stream(resolve(device))); }
  c10::Stream getDefaultStream(c10::Device device) const override { return to_torch(Stream{resolve(device), 0}); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool is_high_priority) const override {
    return getNewStream(device, is_high_priority ? -1 : 0);
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return to_torch(value_or_raise(device_at(resolve(device)).stream_from_pool(priority)));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const Stream next = from_torch(stream);
    const Stream previous = current_stream(next.device);
    set_current_stream(next);
    return to_torch(previous);
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    const Stream ours = from_torch(stream);
    return value_or_raise(device_at(ours.device).native_stream(ours));
  }
  bool queryStream(const c10::Stream& stream) const override {
    const Stream ours = from_torch(stream);
    return value_or_raise(device_at(ours.device).stream_is_done(ours));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    const Stream ours = from_torch(stream);
    value_or_raise(device_at(ours.device).synchronize_stream(ours));
  }
  void synchronizeDevice(const c10::DeviceIndex index) const override {
    value_or_raise(device_at(resolve(index)).synchronize());
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device_index,
              const c10::EventFlag flag) const override;
  void block(void* event, const c10::Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override;
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override;

  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    record_data_on_stream(data, stream);
  }
};

void Guard::record(void** event, const c10::Stream& stream, const c10::DeviceIndex device_index,
                   const c10::EventFlag flag) const {
  const Stream ours = from_torch(stream);
  TORCH_CHECK(device_index < 0 || resolve(device_index) == ours.device, "event of tessiq:", device_index,
              " recorded on a stream of tessiq:", to_int(ours.device));
  Device& device = device_at(ours.device);
  if (*event == nullptr) {
    // PyTorch's default is an event without timing; torch.Event(enable_timing=True) asks for the backend's.
    const Timing timing = flag == c10::EventFlag::BACKEND_DEFAULT ? Timing::kYes : Timing::kNo;
    *event = new DeviceEvent{ours.device, value_or_raise(device.create_event(timing))};
  }
  auto* held = static_cast<DeviceEvent*>(*event);
  TORCH_CHECK(held->device == ours.device, "event of tessiq:", to_int(held->device),
              " recorded on a stream of tessiq:", to_int(ours.device));
  value_or_raise(device.record_event(held->event, ours));
}

void Guard::block(void* event, const c10::Stream& stream) const {
  if (event == nullptr) {
    return;
  }
  const auto* held = static_cast<const DeviceEvent*>(event);
  const Stream ours = from_torch(stream);
  if (held->device == ours.device || device_at(held->device).kind() == device_at(ours.device).kind()) {
    value_or_raise(device_at(ours.device).wait_event(ours, held->event));
    return;
  }
  // Between the reference device and a GPU there is no common queue: the host waits.
  value_or_raise(device_at(held->device).synchronize_event(held->event));
}

bool Guard::queryEvent(void* event) const {
  if (event == nullptr) {
    return true;
  }
  const auto* held = static_cast<const DeviceEvent*>(event);
  return value_or_raise(device_at(held->device).event_is_done(held->event));
}

void Guard::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    const auto* held = static_cast<const DeviceEvent*>(event);
    value_or_raise(device_at(held->device).synchronize_event(held->event));
  }
}

double Guard::elapsedTime(void* start, void* end, const c10::DeviceIndex) const {
  TORCH_CHECK(start != nullptr && end != nullptr, "both events must be recorded before calculating elapsed time");
  const auto* first = static_cast<const DeviceEvent*>(start);
  const auto* last = static_cast<const DeviceEvent*>(end);
  TORCH_CHECK(first->device == last->device, "events of tessiq:", to_int(first->device),
              " and tessiq:", to_int(last->device), " have no elapsed time between them");
  return value_or_raise(device_at(first->device).elapsed_milliseconds(first->event, last->event));
}

void Guard::destroyEvent(void* event, const c10::DeviceIndex) const noexcept {
  if (event == nullptr) {
    return;
  }
  std::unique_ptr<DeviceEvent> held(static_cast<DeviceEvent*>(event));
  // A forked child must not enter the driver, and leaks the event instead.
  if (auto device = registry().device(held->device); device && !in_bad_fork()) {
    (*device)->destroy_event(held->event);
  }
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace
}  // namespace tessiq::pytorch
