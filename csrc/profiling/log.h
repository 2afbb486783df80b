// Records the regions of one compiled call while it runs.
//
// Decides that times are exclusive: what a region spends in regions inside it is not counted as its own, so the
// exclusive times of a call and of everything in it add up to the call to the nanosecond. A region's clock starts after
// the bookkeeping of opening it and stops before that of closing it, so the profiler's cost lands in the region around
// it, in the end in the call's own time (docs/design/0088).
//
// One log belongs to one thread. Without one, every class here costs a comparison with null.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "profiling/region.h"
#include "support/result.h"

namespace tessiq::profiling {

class Recorder;

class Log {
 public:
  Log(Recorder& recorder, Callee callee);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void open_call(Callee callee);
  // `on_device`: its work is queued on the device, so the device's clock says something of it.
  void open(Kind kind, int32_t instruction, bool on_device, Direction direction = Direction::kNone);
  void close(bool failed);

  bool in_transfer() const { return innermost().kind == Kind::kTransfer; }
  Region& innermost() { return records_.regions[static_cast<size_t>(open_.back())]; }
  const Region& innermost() const { return records_.regions[static_cast<size_t>(open_.back())]; }
  // How often the profile wants each kernel launched for its back-to-back time; 0: just once, as the call needs it.
  int launches() const { return launches_; }
  Result<void> measure_back_to_back(const std::function<Result<void>()>& launch);

 private:
  Event take_mark();
  Event mark_now();
  const Callee& callee() const { return records_.calls[static_cast<size_t>(innermost().call)]; }

  Recorder& recorder_;
  bool device_time_;
  int launches_;
  CallRecords records_;
  std::vector<int32_t> open_;        // regions not closed yet, innermost last
  std::vector<int32_t> open_calls_;  // of those, the calls; indices into records_.calls
  std::vector<Event> spare_marks_;   // of the outermost call's device
};

// The log of the compiled call that this thread is in; null where no profile records it.
inline thread_local Log* current_log_of_thread = nullptr;
inline Log* current_log() { return current_log_of_thread; }

// A region from here to the end of the scope.
class OpenRegion {
 public:
  OpenRegion(Log* log, Kind kind, size_t instruction, program::Place place = program::Place::kDevice) : log_(log) {
    if (log_ != nullptr) {
      open(kind, static_cast<int32_t>(instruction), place);
    }
  }
  ~OpenRegion() {
    if (log_ != nullptr) {
      close();
    }
  }
  OpenRegion(const OpenRegion&) = delete;
  OpenRegion& operator=(const OpenRegion&) = delete;

  // For a node of which only the attempt shows whether a library takes it.
  void becomes(Kind kind) const {
    if (log_ != nullptr) {
      log_->innermost().kind = kind;
    }
  }
  // `launch` queues the region's work once more, into the same memory. Called where the profile asks for it.
  template <typename Launch>
  Result<void> repeat(Launch&& launch) const {
    return log_ == nullptr || log_->launches() == 0 ? Result<void>{}
                                                    : log_->measure_back_to_back(std::forward<Launch>(launch));
  }

 private:
  void open(Kind kind, int32_t instruction, program::Place place);
  void close();

  Log* log_;
  int exceptions_ = 0;  // in flight when it was opened
};

// A copy of `bytes` from here to the end of the scope. Inside another transfer it is part of that one, which has the
// instruction's name.
class OpenTransfer {
 public:
  OpenTransfer(Log* log, Direction direction, Bytes bytes, int32_t instruction = -1) : log_(log) {
    if (log_ != nullptr) {
      open(direction, bytes, instruction);
    }
  }
  ~OpenTransfer() {
    if (log_ != nullptr) {
      close();
    }
  }
  OpenTransfer(const OpenTransfer&) = delete;
  OpenTransfer& operator=(const OpenTransfer&) = delete;

 private:
  void open(Direction direction, Bytes bytes, int32_t instruction);
  void close();

  Log* log_;
  int exceptions_ = 0;
};

}  // namespace tessiq::profiling
