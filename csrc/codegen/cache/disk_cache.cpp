#include "codegen/cache/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/log.h"

namespace tessiq::cache {
namespace {

namespace fs = std::filesystem;

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
  if (content->size() >= sizeof(Trailer)) {
    const size_t size = content->size() - sizeof(Trailer);
    const Trailer expected = trailer_of(std::string_view(*content).substr(0, size));
    if (std::memcmp(content->data() + size, &expected, sizeof(Trailer)) == 0) {
      content->resize(size);
      file.touch();
      return content;
    }
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
  std::error_code error;
  const fs::path directory(directory_);
  if (fs::is_directory(directory, error)) {
    return true;
  }
  fs::create_directories(directory.parent_path(), error);
  // Only the owner: what lies here is code that this process will run.
  if (!error && (::mkdir(directory_.c_str(), 0700) == 0 || errno == EEXIST)) {
    return true;
  }
  const std::string reason = error ? error.message() : std::strerror(errno);
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
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t size;
  };
  std::error_code error;
  std::vector<Entry> entries;
  uint64_t total = 0;
  const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;  // another process may have removed it between listing and asking
    const uint64_t size = it->is_regular_file(ignored) ? it->file_size(ignored) : 0;
    const fs::file_time_type used = it->last_write_time(ignored);
    const bool being_written = it->path().filename().string().starts_with(kTemporaryPrefix);
    if (ignored || size == 0) {
      continue;
    }
    if (being_written && used < an_hour_ago) {
      fs::remove(it->path(), ignored);  // left by a process that died
    } else if (!being_written) {
      entries.push_back({it->path(), used, size});
      total += size;
    }
  }
  if (total <= size_limit_) {
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  // Down to three quarters, so that the next write does not trim again.
  const uint64_t target = size_limit_ / 4 * 3;
  for (const Entry& entry : entries) {
    if (total <= target) {
      return;
    }
    fs::remove(entry.path, error);
    total -= entry.size;
  }
}

}  // namespace tessiq::cache
