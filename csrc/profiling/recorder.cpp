// The recorder's life, the marks of its devices, and the reading of their clocks.
#include "profiling/recorder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "runtime/registry.h"
#include "support/log.h"

namespace tessiq::profiling {
namespace {

thread_local std::shared_ptr<Recorder> recorder_of_thread;

int64_t steady_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// The time since the anchor is rounded the more the longer a profile runs, so starts may overlap a little: regions that
// came one after the other, inside another, are moved to lie so.
void put_inside(DeviceTime& time, DeviceTime& around) {
  const int64_t latest = around.start + around.duration - time.duration;
  time.start = std::max(std::min(time.start, latest), around.filled);
  time.filled = time.start;
  around.filled = time.start + time.duration;
  around.inside += time.duration;
}

}  // namespace

std::atomic<int> Recorder::recording_{0};

Result<MarkPair> MarkPair::create(Device& device) {
  MarkPair pair(device);
  TESSIQ_ASSIGN_OR_RETURN(pair.begin, device.create_event(Timing::kYes));
  TESSIQ_ASSIGN_OR_RETURN(pair.end, device.create_event(Timing::kYes));
  return pair;
}

MarkPair::MarkPair(MarkPair&& other) noexcept
    : device(other.device), begin(std::exchange(other.begin, {})), end(std::exchange(other.end, {})) {}

MarkPair::~MarkPair() {
  for (Event mark : {begin, end}) {
    if (mark.handle != nullptr) {
      device->destroy_event(mark);
    }
  }
}

Result<std::shared_ptr<Recorder>> Recorder::start(RecorderOptions options) {
  if (of_this_thread() != nullptr) {
    return invalid_argument("this thread's compiled calls are being recorded already, and each call is in one profile");
  }
  recorder_of_thread = std::shared_ptr<Recorder>(new Recorder(std::move(options)));
  recording_.fetch_add(1, std::memory_order_relaxed);
  return recorder_of_thread;
}

// Another thread may have stopped it.
std::shared_ptr<Recorder> Recorder::of_this_thread() {
  return recorder_of_thread != nullptr && recorder_of_thread->is_recording() ? recorder_of_thread : nullptr;
}

Recorder::~Recorder() {
  if (is_recording()) {
    // Forgotten by whoever started it, and its thread has ended.
    recording_.fetch_sub(1, std::memory_order_relaxed);
  }
  destroy_marks(calls_);
}

Result<std::vector<CallRecords>> Recorder::stop() {
  if (stopped_.exchange(true, std::memory_order_acq_rel)) {
    return std::vector<CallRecords>();
  }
  recording_.fetch_sub(1, std::memory_order_relaxed);
  if (recorder_of_thread.get() == this) {
    recorder_of_thread.reset();
  }
  std::lock_guard lock(mutex_);
  std::vector<CallRecords> calls = std::exchange(calls_, {});
  std::ranges::sort(calls, {}, [](const CallRecords& call) { return call.regions.front().start; });
  const Result<void> read = read_device_times(calls);
  destroy_marks(calls);
  TESSIQ_RETURN_IF_ERROR(read);
  return calls;
}

void Recorder::take(CallRecords records, std::vector<Event> spare_marks) {
  std::lock_guard lock(mutex_);
  for (const auto& anchor : anchors_) {
    if (anchor->device == records.calls.front().device) {
      anchor->spare_marks.insert(anchor->spare_marks.end(), spare_marks.begin(), spare_marks.end());
    }
  }
  calls_.push_back(std::move(records));
}

bool Recorder::prepare_marks(const Callee& callee, size_t count, std::vector<Event>& marks) {
  std::lock_guard lock(mutex_);
  const Result<Anchor*> anchor = anchor_of(callee);
  if (!anchor) {
    log_warning("profiling", "a call has no device times: " + anchor.error().message());
    return false;
  }
  // Made here and not where they are set: making one costs more than setting it.
  marks = std::exchange((*anchor)->spare_marks, {});
  while (marks.size() < count) {
    const Result<Event> mark = callee.device->create_event(Timing::kYes);
    if (!mark) {
      log_warning("profiling", "some regions have no device time: " + mark.error().message());
      break;
    }
    marks.push_back(*mark);
  }
  return true;
}

Result<Recorder::Anchor*> Recorder::anchor_of(const Callee& callee) {
  for (const auto& anchor : anchors_) {
    if (anchor->device == callee.device) {
      return anchor.get();
    }
  }
  auto anchor = std::make_unique<Anchor>();
  anchor->device = callee.device;
  const Stream stream = current_stream(callee.index);
  // The only wait while a profile records, before the device's first call: an idle device sets the mark at once, which
  // ties its clock to the host's.
  TESSIQ_RETURN_IF_ERROR(callee.device->synchronize());
  TESSIQ_ASSIGN_OR_RETURN(anchor->mark, callee.device->create_event(Timing::kYes));
  anchor->host_time = steady_nanoseconds();
  if (const auto recorded = callee.device->record_event(anchor->mark, stream); !recorded) {
    callee.device->destroy_event(anchor->mark);
    return recorded.error();
  }
  anchors_.push_back(std::move(anchor));
  return anchors_.back().get();
}

Result<DeviceTime> Recorder::read_device_time(const Callee& callee, const Region& region) {
  TESSIQ_ASSIGN_OR_RETURN(const Anchor* anchor, anchor_of(callee));
  TESSIQ_RETURN_IF_ERROR(callee.device->synchronize_event(region.end_mark));
  TESSIQ_ASSIGN_OR_RETURN(const double start, callee.device->elapsed_milliseconds(anchor->mark, region.begin_mark));
  TESSIQ_ASSIGN_OR_RETURN(const double duration,
                          callee.device->elapsed_milliseconds(region.begin_mark, region.end_mark));
  DeviceTime time;
  time.start = anchor->host_time + std::llround(start * 1e6);
  time.duration = std::llround(duration * 1e6);
  time.filled = time.start;
  return time;
}

Result<void> Recorder::read_device_times(std::vector<CallRecords>& calls) {
  for (CallRecords& call : calls) {
    for (Region& region : call.regions) {
      if (region.begin_mark.handle == nullptr || region.end_mark.handle == nullptr) {
        continue;
      }
      const Callee& callee = call.calls[static_cast<size_t>(region.call)];
      TESSIQ_ASSIGN_OR_RETURN(DeviceTime time, read_device_time(callee, region));
      // A parent stands before what is inside it. A nested call on another device is not inside by this clock.
      Region* around = region.parent < 0 ? nullptr : &call.regions[static_cast<size_t>(region.parent)];
      if (around != nullptr && around->device &&
          call.calls[static_cast<size_t>(around->call)].device == callee.device) {
        put_inside(time, *around->device);
      }
      region.device = time;
    }
  }
  return {};
}

void Recorder::destroy_marks(std::vector<CallRecords>& calls) {
  for (CallRecords& call : calls) {
    for (Region& region : call.regions) {
      for (Event* mark : {&region.begin_mark, &region.end_mark}) {
        if (mark->handle != nullptr) {
          call.calls[static_cast<size_t>(region.call)].device->destroy_event(std::exchange(*mark, {}));
        }
      }
    }
  }
  for (const auto& anchor : anchors_) {
    for (Event mark : std::exchange(anchor->spare_marks, {})) {
      anchor->device->destroy_event(mark);
    }
    if (anchor->mark.handle != nullptr) {
      anchor->device->destroy_event(std::exchange(anchor->mark, {}));
    }
  }
}

void OpenCall::open(Recorder& recorder, const Callee& callee) {
  if (!recorder.is_recording()) {
    return;
  }
  is_open_ = true;
  exceptions_ = std::uncaught_exceptions();
  if (Log* around = current_log()) {
    around->open_call(callee);
    return;
  }
  own_ = std::make_unique<Log>(recorder, callee);
  current_log_of_thread = own_.get();
}

void OpenCall::close() {
  current_log()->close(std::uncaught_exceptions() > exceptions_);
  if (own_ != nullptr) {
    current_log_of_thread = nullptr;
  }
}

int64_t thread_number() {
  static thread_local const int64_t number = syscall(SYS_gettid);
  return number;
}

}  // namespace tessiq::profiling
