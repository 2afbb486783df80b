// Streams and events of a device that has finished every call when it returns.
//
// Decides that such a device still has pool streams and events that can be told apart, timed and refused when misused,
// so that code written for a GPU takes the same path on it. Shared by the host and the null device.
#pragma once

#include <atomic>
#include <chrono>

#include "runtime/device.h"
#include "runtime/event_state.h"

namespace tessiq {

class InlineStreamDevice : public Device {
 public:
  Result<Stream> stream_from_pool(int priority) override;
  Result<void*> native_stream(Stream stream) override;
  Result<bool> stream_is_done(Stream stream) override;
  Result<void> synchronize_stream(Stream stream) override;
  Result<void> synchronize() override;

  Result<Event> create_event(Timing timing) override;
  void destroy_event(Event event) noexcept override;
  Result<void> record_event(Event event, Stream stream) override;
  Result<void> wait_event(Stream stream, Event event) override;
  Result<bool> event_is_done(Event event) override;
  Result<void> synchronize_event(Event event) override;
  Result<double> elapsed_milliseconds(Event start, Event end) override;

 protected:
  InlineStreamDevice(DeviceIndex index, DeviceKind kind) : index_(index), kind_(kind) {}

  // kInvalidArgument for a stream of another device, or one that the pool never gave.
  Result<void> check_stream(Stream stream) const;

 private:
  struct RecordedEvent : EventState {
    // Nanoseconds of the steady clock; 0 until recorded. Atomic: one thread may record while another asks.
    std::atomic<int64_t> time{0};
  };

  DeviceIndex index_;
  DeviceKind kind_;
  std::atomic<int64_t> next_pool_stream_{0};
};

}  // namespace tessiq
