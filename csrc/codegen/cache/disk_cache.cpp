#include "codegen/cache/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/log.h"

namespace tessiq::cache {
namespace {

// Not std::filesystem, here and below: PyTorch's libraries export an incomplete copy of it under the same names (0055).
bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Makes the folders above `path`; whether they are there afterwards, with errno where not.
bool make_parents(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (!is_directory(parent) && ::mkdir(parent.c_str(), 0777) != 0 && errno != EEXIST) {
      return false;
    }
  }
  return true;
}

constexpr uint64_t kDefaultLimit = uint64_t{2048} << 20;
constexpr std::string_view kMagic = "tessiq01";
constexpr std::string_view kTemporaryPrefix = ".writing-";

struct Trailer {
  uint64_t size = 0;
  uint64_t checksum_low = 0;
  uint64_t checksum_high = 0;
  char magic[8] = {};
};
static_assert(sizeof(Trailer) == 32);

Trailer trailer_of(std::string_view payload) {
  const XXH128_hash_t hash = XXH3_128bits(payload.data(), payload.size());
  Trailer trailer{payload.size(), hash.low64, hash.high64, {}};
  std::memcpy(trailer.magic, kMagic.data(), sizeof(trailer.magic));
  return trailer;
}

// Of the payload, where what follows it is its own trailer.
std::optional<size_t> payload_size(std::string_view content) {
  if (content.size() < sizeof(Trailer)) {
    return std::nullopt;
  }
  const size_t size = content.size() - sizeof(Trailer);
  const Trailer expected = trailer_of(content.substr(0, size));
  return std::memcmp(content.data() + size, &expected, sizeof(Trailer)) == 0 ? std::optional(size) : std::nullopt;
}

struct Entry {
  std::string name;
  timespec used;
  uint64_t size;
  bool being_written;
};

// CacheKey::hex and an ending. A user may name a folder with other files in it, and those are never touched.
bool is_entry_name(std::string_view name) {
  constexpr size_t kDigits = 32;
  return name.size() > kDigits && name[kDigits] == '.' &&
         name.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// In the order of the directory.
std::vector<Entry> list_entries(const std::string& path) {
  std::vector<Entry> entries;
  DIR* directory = path.empty() ? nullptr : ::opendir(path.c_str());
  if (directory == nullptr) {
    return entries;
  }
  while (const dirent* found = ::readdir(directory)) {
    const std::string name = found->d_name;
    const bool being_written = name.starts_with(kTemporaryPrefix);
    struct stat status{};
    // Another process may have removed it between listing and asking.
    if ((being_written || is_entry_name(name)) && ::stat((path + "/" + name).c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      entries.push_back({name, status.st_mtim, static_cast<uint64_t>(status.st_size), being_written});
    }
  }
  ::closedir(directory);
  return entries;
}

// Once a directory in a process: the same complaint about every kernel helps nobody.
void warn_once(const std::string& directory, const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(directory).second) {
    log_warning("cache", message);
  }
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  std::optional<std::string> read_all() const {
    std::string content;
    char buffer[1 << 16];
    for (;;) {
      const ssize_t count = ::read(descriptor_, buffer, sizeof(buffer));
      if (count == 0) {
        return content;
      }
      if (count < 0 && errno != EINTR) {
        return std::nullopt;
      }
      content.append(buffer, count < 0 ? 0 : static_cast<size_t>(count));
    }
  }

  bool write_all(const void* data, size_t size) const {
    const char* position = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t count = ::write(descriptor_, position, size);
      if (count < 0 && errno != EINTR) {
        return false;
      }
      position += count < 0 ? 0 : count;
      size -= count < 0 ? 0 : static_cast<size_t>(count);
    }
    return true;
  }

  void touch() const { ::futimens(descriptor_, nullptr); }

 private:
  int descriptor_;
};

}  // namespace

DiskCache DiskCache::of_user() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string directory = variable("TESSIQ_CACHE_DIR");
  if (directory.empty() && !variable("XDG_CACHE_HOME").empty()) {
    directory = variable("XDG_CACHE_HOME") + "/tessiq";
  }
  if (directory.empty() && !variable("HOME").empty()) {
    directory = variable("HOME") + "/.cache/tessiq";
  }
  const std::string limit = variable("TESSIQ_CACHE_LIMIT_MB");
  uint64_t megabytes = 0;
  const auto parsed = std::from_chars(limit.data(), limit.data() + limit.size(), megabytes);
  const bool is_number =
      parsed.ec == std::errc() && parsed.ptr == limit.data() + limit.size() && megabytes < (1U << 30);
  if (!limit.empty() && !is_number) {
    warn_once("TESSIQ_CACHE_LIMIT_MB",
              "TESSIQ_CACHE_LIMIT_MB is \"" + limit + "\", which is not a number of megabytes");
  }
  return {directory, limit.empty() || !is_number ? kDefaultLimit : megabytes << 20};
}

std::optional<std::string> DiskCache::read(std::string_view name) const {
  if (directory_.empty()) {
    return std::nullopt;
  }
  const std::string path = path_of(name);
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return std::nullopt;
  }
  std::optional<std::string> content = file.read_all();
  if (!content) {
    log_warning("cache", "reading " + path + " failed: " + std::strerror(errno) + "; it is compiled again");
    return std::nullopt;
  }
  if (const std::optional<size_t> size = payload_size(*content)) {
    content->resize(*size);
    file.touch();
    return content;
  }
  log_warning("cache", path + " is damaged (its checksum does not match) and is compiled again");
  ::unlink(path.c_str());
  return std::nullopt;
}

bool DiskCache::prepare_directory() const {
  if (directory_.empty()) {
    warn_once(directory_, "compiled kernels are not kept: neither TESSIQ_CACHE_DIR, XDG_CACHE_HOME nor HOME is set");
    return false;
  }
  if (is_directory(directory_)) {
    return true;
  }
  // Only the owner: what lies here is code that this process will run.
  if (make_parents(directory_) && (::mkdir(directory_.c_str(), 0700) == 0 || is_directory(directory_))) {
    return true;
  }
  const std::string reason = std::strerror(errno);
  warn_once(directory_, "compiled kernels are not kept: creating " + directory_ + " failed: " + reason);
  return false;
}

bool DiskCache::write(std::string_view name, std::string_view payload) const {
  if (!prepare_directory()) {
    return false;
  }
  static std::atomic<uint64_t> counter{0};
  const std::string temporary = path_of(std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" +
                                        std::to_string(counter.fetch_add(1)) + "-" + std::string(name));
  bool written = false;
  {
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const Trailer trailer = trailer_of(payload);
    written =
        file.is_open() && file.write_all(payload.data(), payload.size()) && file.write_all(&trailer, sizeof(trailer));
  }
  if (!written || ::rename(temporary.c_str(), path_of(name).c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    warn_once(directory_, "compiled kernels are not kept: writing to " + directory_ + " failed: " + reason);
    return false;
  }
  return true;
}

void DiskCache::trim() const {
  std::vector<Entry> entries = list_entries(directory_);
  uint64_t total = 0;
  const time_t an_hour_ago = ::time(nullptr) - 3600;
  std::erase_if(entries, [&](const Entry& entry) {
    if (entry.being_written && entry.used.tv_sec < an_hour_ago) {
      ::unlink(path_of(entry.name).c_str());  // left by a process that died
    }
    total += entry.being_written ? 0 : entry.size;
    return entry.being_written;
  });
  if (total <= size_limit_) {
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  // Down to three quarters, so that the next write does not trim again.
  const uint64_t target = size_limit_ / 4 * 3;
  for (const Entry& entry : entries) {
    if (total <= target) {
      return;
    }
    ::unlink(path_of(entry.name).c_str());
    total -= entry.size;
  }
}

CacheSurvey DiskCache::survey() const {
  CacheSurvey found;
  for (const Entry& entry : list_entries(directory_)) {
    if (entry.being_written) {
      continue;
    }
    ++found.entries;
    found.bytes += entry.size;
    const File file(::open(path_of(entry.name).c_str(), O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> content = file.is_open() ? file.read_all() : std::nullopt;
    if (!content || !payload_size(*content)) {
      found.damaged.push_back(entry.name);
    }
  }
  std::sort(found.damaged.begin(), found.damaged.end());
  return found;
}

CacheRemoval DiskCache::clear() const {
  CacheRemoval removed;
  for (const Entry& entry : list_entries(directory_)) {
    if (::unlink(path_of(entry.name).c_str()) == 0) {
      removed.entries += entry.being_written ? 0 : 1;
      removed.bytes += entry.size;
    } else if (errno != ENOENT) {  // another process may have removed it first
      removed.left.push_back(entry.name);
    }
  }
  std::sort(removed.left.begin(), removed.left.end());
  return removed;
}

}  // namespace tessiq::cache
