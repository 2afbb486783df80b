// Environment variables that a test changes and puts back.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tessiq {

class ScopedEnvironment {
 public:
  // No value: unset.
  ScopedEnvironment(const char* name, std::optional<std::string> value) : name_(name) {
    const char* before = std::getenv(name);
    before_ = before == nullptr ? std::nullopt : std::optional<std::string>(before);
    apply(value);
  }
  ~ScopedEnvironment() { apply(before_); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void apply(const std::optional<std::string>& value) const {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace tessiq
