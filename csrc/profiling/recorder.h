// A profile being recorded: which threads' calls it sees, and everything they left.
//
// Decides that the thread that started it is recorded and no other by itself, that a thread records one profile at a
// time, and that device clocks are read once, when it stops. How a thread that works for the recorded one (autograd's,
// for a backward pass) comes to it is bindings/profiling_bindings.cpp's business.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "profiling/log.h"
#include "profiling/ranges.h"
#include "profiling/region.h"
#include "support/result.h"

namespace tessiq::profiling {

struct RecorderOptions {
  bool device_time = false;
  // Launch each kernel so often between one pair of events, besides once for the call.
  int launches = 0;
  // Told of every region while it is open.
  std::vector<std::shared_ptr<Ranges>> ranges = {};
};

// Two events with timing, given back with this object.
struct MarkPair {
  static Result<MarkPair> create(Device& device);
  MarkPair(MarkPair&& other) noexcept;
  MarkPair& operator=(MarkPair&&) = delete;
  ~MarkPair();

  Device* device = nullptr;
  Event begin;
  Event end;

 private:
  explicit MarkPair(Device& of) : device(&of) {}
};

class Recorder {
 public:
  // Records this thread's compiled calls from now on. kInvalidArgument where the thread is recorded already.
  static Result<std::shared_ptr<Recorder>> start(RecorderOptions options);
  // The profile this thread started and has not stopped; null where there is none.
  static std::shared_ptr<Recorder> of_this_thread();
  // False: no thread records, so that nothing more has to be looked up.
  static bool any() { return recording_.load(std::memory_order_relaxed) != 0; }

  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Ends the recording, waits for the marked work and reads its times. A second call gives no records.
  Result<std::vector<CallRecords>> stop();
  bool is_recording() const { return !stopped_.load(std::memory_order_acquire); }
  const RecorderOptions& options() const { return options_; }

  // For Log: marks of the callee's device, at least `count` of them. False where the device gives none.
  bool prepare_marks(const Callee& callee, size_t count, std::vector<Event>& marks);
  void take(CallRecords records, std::vector<Event> spare_marks);

 private:
  // A mark of a device that was idle, and the host's time when it was set.
  struct Anchor {
    Device* device = nullptr;
    Event mark;
    int64_t host_time = 0;
    std::vector<Event> spare_marks;
  };

  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  Result<Anchor*> anchor_of(const Callee& callee);
  Result<void> read_device_times(std::vector<CallRecords>& calls);
  Result<DeviceTime> read_device_time(const Callee& callee, const Region& region);
  void destroy_marks(std::vector<CallRecords>& calls);

  static std::atomic<int> recording_;

  const RecorderOptions options_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<CallRecords> calls_;
  std::vector<std::unique_ptr<Anchor>> anchors_;
};

// One compiled call, from here to the end of the scope. A call made inside another one is a region of that one.
class OpenCall {
 public:
  // `recorder` null: nothing is recorded.
  OpenCall(Recorder* recorder, const Callee& callee) {
    if (recorder != nullptr) {
      open(*recorder, callee);
    }
  }
  ~OpenCall() {
    if (is_open_) {
      close();
    }
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

 private:
  void open(Recorder& recorder, const Callee& callee);
  void close();

  bool is_open_ = false;
  int exceptions_ = 0;
  std::unique_ptr<Log> own_;  // of an outermost call
};

// The operating system's number of this thread.
int64_t thread_number();

}  // namespace tessiq::profiling
