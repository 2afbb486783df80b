// A directory for files that live as long as one compile.
#pragma once

#include <string>

#include "support/result.h"

namespace tessiq::hostcc {

class ScratchDirectory {
 public:
  // Below TMPDIR, else /tmp; readable by this user only.
  static Result<ScratchDirectory> create();
  ~ScratchDirectory();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<void> write_file(const std::string& path, const std::string& content);
Result<std::string> read_file(const std::string& path);

}  // namespace tessiq::hostcc
