// Finds shared libraries at run time, so that tessiq links none of CUDA and loads none before a GPU is used.
//
// Decides the order of places: already in the process (PyTorch's own copy, so that both share one), then the folders
// registered here (those of the nvidia wheels), then the system's search path. Leaves to the *_api.h tables which
// functions a library must have.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tessiq {

// Adds a folder to look in, after those added before. A folder that does not exist is skipped when a library is sought.
// Has no effect on a library that was already found.
void add_library_directory(std::string path);
std::vector<std::string> library_directories();

// A loaded library. Never unloaded: CUDA's libraries do not survive it, and pointers into them are kept everywhere.
class DynamicLibrary {
 public:
  // `file_names` are tried in order at each place, such as {"libcudart.so.13"}. kNotFound names where it looked.
  static Result<DynamicLibrary> open(const std::vector<std::string>& file_names);

  // kNotFound when this version of the library lacks the function.
  Result<void*> symbol(const char* name) const;
  // Loads a file that lies beside this one and that this library will look for by name alone. Where there is none,
  // nothing is lost: the library then searches the system's path itself.
  void load_companion(const std::string& file_name) const;
  // What dlopen gave, for headers of others that look functions up themselves.
  void* handle() const { return handle_; }
  // The file it was loaded from, for messages.
  std::string path() const;

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_;
  std::string name_;
};

}  // namespace tessiq
