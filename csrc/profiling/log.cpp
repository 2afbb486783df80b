// Clocks, marks and the stack of open regions.
#include "profiling/log.h"

#include <chrono>
#include <exception>

#include "profiling/label.h"
#include "profiling/recorder.h"
#include "runtime/registry.h"
#include "support/log.h"

namespace tessiq::profiling {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Log::Log(Recorder& recorder, Callee callee)
    : recorder_(recorder), device_time_(false), launches_(recorder.options().launches) {
  records_.thread = thread_number();
  const size_t expected = callee.program->instructions.size() + 1;
  records_.regions.reserve(expected);
  open_.reserve(8);
  if (recorder.options().device_time) {
    device_time_ = recorder.prepare_marks(callee, 2 * expected, spare_marks_);
  }
  open_call(std::move(callee));
}

Log::~Log() { recorder_.take(std::move(records_), std::move(spare_marks_)); }

void Log::open_call(Callee callee) {
  open_calls_.push_back(static_cast<int32_t>(records_.calls.size()));
  records_.calls.push_back(std::move(callee));
  open(Kind::kCall, -1, true);
}

void Log::open(Kind kind, int32_t instruction, bool on_device, Direction direction) {
  Region region;
  region.kind = kind;
  region.direction = direction;
  region.parent = open_.empty() ? -1 : open_.back();
  region.call = open_calls_.back();
  region.instruction = instruction;
  open_.push_back(static_cast<int32_t>(records_.regions.size()));
  records_.regions.push_back(region);
  if (!recorder_.options().ranges.empty()) {
    const std::string text = range_text(records_, innermost());
    for (const auto& ranges : recorder_.options().ranges) {
      ranges->push(text.c_str());
    }
  }
  if (device_time_ && on_device) {
    innermost().begin_mark = mark_now();
  }
  innermost().start = now();
}

void Log::close(bool failed) {
  const int64_t end = now();
  Region& region = innermost();
  region.duration = end - region.start;
  region.failed = failed;
  if (region.begin_mark.handle != nullptr) {
    region.end_mark = mark_now();
  }
  for (const auto& ranges : recorder_.options().ranges) {
    ranges->pop();
  }
  if (region.parent >= 0) {
    records_.regions[static_cast<size_t>(region.parent)].inside += region.duration;
  }
  if (region.kind == Kind::kCall) {
    open_calls_.pop_back();
  }
  open_.pop_back();
}

Event Log::take_mark() {
  const Callee& to = callee();
  if (!spare_marks_.empty() && to.device == records_.calls.front().device) {
    const Event mark = spare_marks_.back();
    spare_marks_.pop_back();
    return mark;
  }
  const Result<Event> created = to.device->create_event(Timing::kYes);
  return created ? *created : Event{};
}

// A fault of the profiler costs a reading, never the call: without a mark the region has no device time.
Event Log::mark_now() {
  const Event mark = take_mark();
  if (mark.handle == nullptr) {
    return mark;
  }
  const Callee& to = callee();
  if (const auto recorded = to.device->record_event(mark, current_stream(to.index)); !recorded) {
    log_warning("profiling", "a region has no device time: " + recorded.error().message());
    to.device->destroy_event(mark);
    return {};
  }
  return mark;
}

Result<void> Log::measure_back_to_back(const std::function<Result<void>()>& launch) {
  const Callee& to = callee();
  const Stream stream = current_stream(to.index);
  TESSIQ_ASSIGN_OR_RETURN(const MarkPair pair, MarkPair::create(*to.device));
  // Once unmeasured, so that nothing that was queued before is in the way of the first.
  TESSIQ_RETURN_IF_ERROR(launch());
  TESSIQ_RETURN_IF_ERROR(to.device->synchronize_stream(stream));
  TESSIQ_RETURN_IF_ERROR(to.device->record_event(pair.begin, stream));
  const int64_t start = now();
  for (int i = 0; i < launches_; ++i) {
    TESSIQ_RETURN_IF_ERROR(launch());
  }
  const int64_t issued = now();
  TESSIQ_RETURN_IF_ERROR(to.device->record_event(pair.end, stream));
  TESSIQ_RETURN_IF_ERROR(to.device->synchronize_event(pair.end));
  TESSIQ_ASSIGN_OR_RETURN(const double elapsed, to.device->elapsed_milliseconds(pair.begin, pair.end));
  innermost().back_to_back = BackToBack{launches_, elapsed, static_cast<double>(issued - start) / 1e6};
  return {};
}

void OpenRegion::open(Kind kind, int32_t instruction, program::Place place) {
  exceptions_ = std::uncaught_exceptions();
  log_->open(kind, instruction, place == program::Place::kDevice);
}

void OpenRegion::close() { log_->close(std::uncaught_exceptions() > exceptions_); }

void OpenTransfer::open(Direction direction, Bytes bytes, int32_t instruction) {
  exceptions_ = std::uncaught_exceptions();
  const auto size = static_cast<int64_t>(bytes.value);
  if (log_->in_transfer()) {
    log_->innermost().bytes += size;
    log_ = nullptr;
    return;
  }
  log_->open(Kind::kTransfer, instruction, true, direction);
  log_->innermost().bytes = size;
}

void OpenTransfer::close() { log_->close(std::uncaught_exceptions() > exceptions_); }

}  // namespace tessiq::profiling
