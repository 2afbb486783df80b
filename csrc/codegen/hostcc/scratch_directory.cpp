#include "codegen/hostcc/scratch_directory.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace tessiq::hostcc {

Result<ScratchDirectory> ScratchDirectory::create() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/tessiq-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return external("creating a temporary directory " + pattern + " failed: " + std::strerror(errno));
  }
  return ScratchDirectory(std::move(pattern));
}

ScratchDirectory::~ScratchDirectory() {
  // Not std::filesystem: PyTorch's libraries export an incomplete copy of it under the same names (0055).
  DIR* directory = path_.empty() ? nullptr : ::opendir(path_.c_str());
  if (directory == nullptr) {
    return;
  }
  while (const dirent* entry = ::readdir(directory)) {
    ::unlink(file(entry->d_name).c_str());  // "." and ".." refuse; nothing here makes folders
  }
  ::closedir(directory);
  ::rmdir(path_.c_str());
}

Result<void> write_file(const std::string& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) {
    return external("writing " + path + " failed: " + std::strerror(errno));
  }
  return {};
}

Result<std::string> read_file(const std::string& path) {
  const std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream || !content) {
    return external("reading " + path + " failed: " + std::strerror(errno));
  }
  return std::move(content).str();
}

}  // namespace tessiq::hostcc
