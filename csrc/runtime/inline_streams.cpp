// Bookkeeping of inline_streams.h.
#include "runtime/inline_streams.h"

#include <new>
#include <string>

namespace tessiq {
namespace {

// As many as PyTorch keeps per priority, so a program that cycles through a pool sees the same reuse.
constexpr int64_t kPoolSize = 32;

int64_t steady_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Result<void> InlineStreamDevice::check_stream(Stream stream) const {
  if (stream.device != index_) {
    return invalid_argument("a stream of device " + std::to_string(to_int(stream.device)) + " was given to device " +
                            std::to_string(to_int(index_)));
  }
  if (stream.id < 0 || stream.id > kPoolSize) {
    return invalid_argument("device " + std::to_string(to_int(index_)) + " has no stream " + std::to_string(stream.id));
  }
  return {};
}

Result<Stream> InlineStreamDevice::stream_from_pool(int) {
  const int64_t turn = next_pool_stream_.fetch_add(1, std::memory_order_relaxed);
  return Stream{index_, 1 + turn % kPoolSize};
}

Result<void*> InlineStreamDevice::native_stream(Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return static_cast<void*>(nullptr);
}

Result<bool> InlineStreamDevice::stream_is_done(Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  return true;
}

Result<void> InlineStreamDevice::synchronize_stream(Stream stream) { return check_stream(stream); }

Result<void> InlineStreamDevice::synchronize() { return {}; }

Result<Event> InlineStreamDevice::create_event(Timing timing) {
  auto* state = new (std::nothrow) RecordedEvent;
  if (state == nullptr) {
    return resource_exhausted("out of host memory for an event");
  }
  state->kind = kind_;
  state->timing = timing;
  return Event{static_cast<EventState*>(state)};
}

void InlineStreamDevice::destroy_event(Event event) noexcept {
  if (auto state = event_state<RecordedEvent>(event, kind_)) {
    delete *state;
  }
}

Result<void> InlineStreamDevice::record_event(Event event, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  TESSIQ_ASSIGN_OR_RETURN(RecordedEvent * state, event_state<RecordedEvent>(event, kind_));
  state->time.store(steady_nanoseconds(), std::memory_order_release);
  return {};
}

Result<void> InlineStreamDevice::wait_event(Stream stream, Event event) {
  TESSIQ_RETURN_IF_ERROR(check_stream(stream));
  TESSIQ_RETURN_IF_ERROR(event_state<RecordedEvent>(event, kind_));
  return {};
}

Result<bool> InlineStreamDevice::event_is_done(Event event) {
  TESSIQ_RETURN_IF_ERROR(event_state<RecordedEvent>(event, kind_));
  return true;
}

Result<void> InlineStreamDevice::synchronize_event(Event event) {
  TESSIQ_RETURN_IF_ERROR(event_state<RecordedEvent>(event, kind_));
  return {};
}

Result<double> InlineStreamDevice::elapsed_milliseconds(Event start, Event end) {
  TESSIQ_ASSIGN_OR_RETURN(const RecordedEvent* first, event_state<RecordedEvent>(start, kind_));
  TESSIQ_ASSIGN_OR_RETURN(const RecordedEvent* last, event_state<RecordedEvent>(end, kind_));
  if (first->timing == Timing::kNo || last->timing == Timing::kNo) {
    return invalid_argument("both events must be created with timing enabled to measure the time between them");
  }
  const int64_t from = first->time.load(std::memory_order_acquire);
  const int64_t to = last->time.load(std::memory_order_acquire);
  if (from == 0 || to == 0) {
    return invalid_argument("both events must be recorded before the time between them is asked for");
  }
  return static_cast<double>(to - from) / 1e6;
}

}  // namespace tessiq
