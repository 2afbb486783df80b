#include "codegen/hostcc/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

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
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
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
