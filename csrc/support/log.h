// Where the core says what a user may want to know and no caller returns.
//
// Decides levels and topics. Leaves to others where a line goes: the extension installs a sink that hands lines to the
// Python loggers `tessiq.<topic>`; without one, warnings and errors go to standard error.
#pragma once

#include <functional>
#include <string_view>

namespace tessiq {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogSink = std::function<void(LogLevel, std::string_view topic, std::string_view message)>;

// Replaces the sink; an empty one restores the default. Safe from any thread.
void set_log_sink(LogSink sink);
// Lines below `level` are dropped before they are formatted. The default is kWarning.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

// `topic` is the part of tessiq that speaks: "runtime", "passes", "cuda", "program".
void log(LogLevel level, std::string_view topic, std::string_view message);
inline void log_debug(std::string_view topic, std::string_view message) { log(LogLevel::kDebug, topic, message); }
inline void log_info(std::string_view topic, std::string_view message) { log(LogLevel::kInfo, topic, message); }
inline void log_warning(std::string_view topic, std::string_view message) { log(LogLevel::kWarning, topic, message); }

}  // namespace tessiq
