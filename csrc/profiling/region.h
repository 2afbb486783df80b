// One stretch of a compiled call as a profile keeps it: times by both clocks, bytes, and where it belongs.
//
// Decides what is known of a stretch. Leaves how it is measured to log.h, and its name to label.h: while a call runs
// only the number of the instruction is noted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "runtime/device.h"

namespace tessiq::profiling {

enum class Kind : uint8_t {
  kCall,         // a whole compiled call; its exclusive time is the executor's own
  kKernel,       // the launch of a generated kernel, or a library call
  kInterpreted,  // a node without a kernel, dispatched through PyTorch
  kTransfer,     // a copy between host and device, or between two devices
};
enum class Direction : uint8_t { kNone, kToDevice, kToHost, kBetweenDevices };

// By the device's clock, nanoseconds.
struct DeviceTime {
  int64_t start = 0;  // put on the host's clock, some microseconds exact
  int64_t duration = 0;
  int64_t inside = 0;  // of it, in regions inside this one
  int64_t filled = 0;  // where the last region inside this one ended
};

// The same launch many times between one pair of events.
struct BackToBack {
  int launches = 0;
  double device_milliseconds = 0;  // of all launches, between the two events
  double host_milliseconds = 0;    // until the last of them was issued
};

struct Region {
  Kind kind = Kind::kCall;
  Direction direction = Direction::kNone;
  bool failed = false;         // an exception left it
  int32_t parent = -1;         // the region around it, in the same list
  int32_t call = 0;            // index into CallRecords::calls
  int32_t instruction = -1;    // of the call's program; -1 for a call, and for a transfer inside an interpreted node
  int64_t start = 0;           // nanoseconds of the host's steady clock
  int64_t duration = 0;        // nanoseconds
  int64_t inside = 0;          // of it, in regions inside this one
  int64_t bytes = 0;           // of a transfer
  Event begin_mark, end_mark;  // null without a device clock
  std::optional<DeviceTime> device;
  std::optional<BackToBack> back_to_back;

  int64_t exclusive() const { return duration - inside; }
};

// What a call ran.
struct Callee {
  std::string name;
  std::shared_ptr<const program::Program> program;
  DeviceIndex index{};
  Device* device = nullptr;
};

// One outermost call of one thread, and what ran inside it: regions[0] is the call.
struct CallRecords {
  int64_t thread = 0;  // the operating system's number
  std::vector<Callee> calls;
  std::vector<Region> regions;  // in the order they were opened
};

}  // namespace tessiq::profiling
