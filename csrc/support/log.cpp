// The process-wide sink and level of log.h.
#include "support/log.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace tessiq {
namespace {

std::atomic<LogLevel> current_level{LogLevel::kWarning};

struct SinkHolder {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
};

SinkHolder& sink_holder() {
  // Never destroyed: destructors of other globals may still log.
  static SinkHolder* holder = new SinkHolder;
  return *holder;
}

}  // namespace

void set_log_sink(LogSink sink) {
  SinkHolder& holder = sink_holder();
  std::lock_guard lock(holder.mutex);
  holder.sink = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
}

void set_log_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) { return level >= current_level.load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view topic, std::string_view message) {
  if (!log_enabled(level)) {
    return;
  }
  std::shared_ptr<const LogSink> sink;
  {
    std::lock_guard lock(sink_holder().mutex);
    sink = sink_holder().sink;
  }
  if (sink) {
    // Called outside the lock: a sink that takes Python's lock must not be able to deadlock with another logger.
    (*sink)(level, topic, message);
    return;
  }
  std::fprintf(stderr, "tessiq.%.*s: %.*s\n", static_cast<int>(topic.size()), topic.data(),
               static_cast<int>(message.size()), message.data());
}

}  // namespace tessiq
