// Names of cache entries: a 128-bit hash over everything an entry depends on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessiq::cache {

// Fields are kept apart by their lengths, so that ("ab", "c") and ("a", "bc") are different keys.
class CacheKey {
 public:
  CacheKey& add(std::string_view field);
  CacheKey& add(int64_t number) { return add(std::to_string(number)); }
  // 32 hexadecimal digits.
  std::string hex() const;

 private:
  std::string fields_;
};

}  // namespace tessiq::cache
