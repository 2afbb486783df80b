// A device for tests: host memory, every call counted, one call made to fail, and streams that finish when told to.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host/host_device.h"

namespace tessiq::testing_support {

class FaultDevice final : public Device {
 public:
  FaultDevice() = default;
  // A test may leave blocks live: they belong to it, and it to this device.
  ~FaultDevice() override {
    for (const auto& [pointer, size] : live_) {
      host_.deallocate(pointer, Bytes{size});
    }
    for (const auto& [handle, record] : events_) {
      host_.destroy_event(Event{handle});
    }
  }

  // The call at this position, counted from 0, fails once. -1: none.
  void fail_call(int position) { failing_call_ = position; }
  void fail_every_allocation(bool fail) { allocations_fail_ = fail; }
  // Allocations beyond this many live bytes fail.
  void limit_bytes(size_t limit) { limit_ = limit; }
  // Work on the stream is unfinished from now on: events recorded there have not passed.
  void keep_busy(Stream stream) { busy_.insert(stream.id); }
  void finish(Stream stream) {
    busy_.erase(stream.id);
    for (auto& [event, state] : events_) {
      state.passed = state.passed || state.stream == stream.id;
    }
  }

  int calls() const { return calls_; }
  int count(const std::string& name) const { return static_cast<int>(std::count(log_.begin(), log_.end(), name)); }
  size_t live_blocks() const { return live_.size(); }
  size_t live_bytes() const { return live_bytes_; }
  size_t live_events() const { return events_.size(); }
  bool misused() const { return misused_; }

  DeviceKind kind() const override { return DeviceKind::kHost; }
  Ordinal ordinal() const override { return Ordinal{0}; }
  Result<DeviceProperties> properties() override { return host_.properties(); }

  Result<void*> allocate(Bytes size) override {
    TESSIQ_RETURN_IF_ERROR(enter("allocate"));
    if (allocations_fail_ || live_bytes_ + size.value > limit_) {
      return resource_exhausted("the fault device is full");
    }
    TESSIQ_ASSIGN_OR_RETURN(void* pointer, host_.allocate(size));
    live_[pointer] = size.value;
    live_bytes_ += size.value;
    return pointer;
  }
  void deallocate(void* pointer, Bytes size) noexcept override {
    log_.push_back("deallocate");
    const auto found = live_.find(pointer);
    // Freeing under the nose of a stream that uses the block, twice, or at another size is a bug of the allocator.
    misused_ = misused_ || found == live_.end() || found->second != size.value;
    if (found != live_.end()) {
      live_bytes_ -= found->second;
      live_.erase(found);
    }
    host_.deallocate(pointer, size);
  }

  Result<void> copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) override {
    TESSIQ_RETURN_IF_ERROR(enter("copy_to_device"));
    return host_.copy_to_device(device, host, size, stream, blocking);
  }
  Result<void> copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) override {
    TESSIQ_RETURN_IF_ERROR(enter("copy_to_host"));
    return host_.copy_to_host(host, device, size, stream, blocking);
  }
  Result<void> copy_on_device(void* target, const void* source, Bytes size, Stream stream) override {
    TESSIQ_RETURN_IF_ERROR(enter("copy_on_device"));
    return host_.copy_on_device(target, source, size, stream);
  }
  Result<void> fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) override {
    TESSIQ_RETURN_IF_ERROR(enter("fill_bytes"));
    return host_.fill_bytes(target, value, size, stream);
  }

  Result<Stream> stream_from_pool(int priority) override { return host_.stream_from_pool(priority); }
  Result<void*> native_stream(Stream stream) override { return host_.native_stream(stream); }
  Result<bool> stream_is_done(Stream stream) override { return busy_.count(stream.id) == 0; }
  Result<void> synchronize_stream(Stream stream) override {
    TESSIQ_RETURN_IF_ERROR(enter("synchronize_stream"));
    finish(stream);
    return {};
  }
  Result<void> synchronize() override { return enter("synchronize"); }

  Result<Event> create_event(Timing timing) override {
    TESSIQ_RETURN_IF_ERROR(enter("create_event"));
    TESSIQ_ASSIGN_OR_RETURN(const Event event, host_.create_event(timing));
    events_[event.handle] = {};
    return event;
  }
  void destroy_event(Event event) noexcept override {
    misused_ = misused_ || events_.erase(event.handle) == 0;
    host_.destroy_event(event);
  }
  Result<void> record_event(Event event, Stream stream) override {
    TESSIQ_RETURN_IF_ERROR(enter("record_event"));
    events_[event.handle] = {stream.id, busy_.count(stream.id) == 0};
    return {};
  }
  Result<void> wait_event(Stream stream, Event event) override { return host_.wait_event(stream, event); }
  Result<bool> event_is_done(Event event) override {
    TESSIQ_RETURN_IF_ERROR(enter("event_is_done"));
    return events_[event.handle].passed;
  }
  Result<void> synchronize_event(Event event) override {
    TESSIQ_RETURN_IF_ERROR(enter("synchronize_event"));
    events_[event.handle].passed = true;
    return {};
  }
  Result<double> elapsed_milliseconds(Event start, Event end) override {
    return host_.elapsed_milliseconds(start, end);
  }

 private:
  struct EventRecord {
    int64_t stream = 0;
    bool passed = false;
  };

  Result<void> enter(const char* name) {
    log_.push_back(name);
    if (calls_++ == failing_call_) {
      return external(std::string("injected failure of ") + name);
    }
    return {};
  }

  HostDevice host_;
  std::map<void*, size_t> live_;
  std::map<void*, EventRecord> events_;
  std::set<int64_t> busy_;
  std::vector<std::string> log_;
  size_t live_bytes_ = 0;
  size_t limit_ = SIZE_MAX;
  int calls_ = 0;
  int failing_call_ = -1;
  bool allocations_fail_ = false;
  bool misused_ = false;
};

}  // namespace tessiq::testing_support
