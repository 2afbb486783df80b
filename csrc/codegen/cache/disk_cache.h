// Files of compiled code in the user's cache directory, safe to share between processes.
//
// Decides names, format, and what is thrown away. A cache is never needed: whatever is wrong with it costs a compile
// and one warning, never a failure. Leaves to callers what a key depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessiq::cache {

// What lies in a cache. Only files named as entries are counted: the folder may hold others.
struct CacheSurvey {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  std::vector<std::string> damaged;  // names, sorted
};

// What was taken out of a cache, and the names, sorted, of entries that could not be.
struct CacheRemoval {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  std::vector<std::string> left;
};

// An entry is its payload followed by a trailer (length, 128-bit checksum, magic), so that a shared object can be
// opened where it lies. It appears by rename, whole or not at all.
class DiskCache {
 public:
  DiskCache(std::string directory, uint64_t size_limit) : directory_(std::move(directory)), size_limit_(size_limit) {}

  // TESSIQ_CACHE_DIR, else $XDG_CACHE_HOME/tessiq, else ~/.cache/tessiq; without a home none, and every read is a miss.
  // Limited to TESSIQ_CACHE_LIMIT_MB, 2048 unless set.
  static DiskCache of_user();

  const std::string& directory() const { return directory_; }
  std::string path_of(std::string_view name) const { return directory_ + "/" + std::string(name); }

  // The payload, and a newer time of last use. A damaged entry is removed and missed, with a warning.
  std::optional<std::string> read(std::string_view name) const;
  // Whether the entry is there now.
  bool write(std::string_view name, std::string_view payload) const;
  // Removes the longest unused entries where the limit is passed, and what a process that died left half written.
  void trim() const;
  // Reads every entry; changes nothing.
  CacheSurvey survey() const;
  // Removes every entry and what is half written, and no other file.
  CacheRemoval clear() const;
  uint64_t size_limit() const { return size_limit_; }

 private:
  bool prepare_directory() const;

  std::string directory_;
  uint64_t size_limit_;
};

}  // namespace tessiq::cache
