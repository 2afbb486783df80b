#include "codegen/cache/cache_key.h"

#include <array>
#include <cstdio>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessiq::cache {

CacheKey& CacheKey::add(std::string_view field) {
  fields_ += std::to_string(field.size());
  fields_ += ':';
  fields_ += field;
  return *this;
}

std::string CacheKey::hex() const {
  const XXH128_hash_t hash = XXH3_128bits(fields_.data(), fields_.size());
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

}  // namespace tessiq::cache
