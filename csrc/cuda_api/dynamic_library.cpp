// dlopen over the places that dynamic_library.h lists.
#include "cuda_api/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace tessiq {
namespace {

struct Directories {
  std::mutex mutex;
  std::vector<std::string> paths;
};

Directories& directories() {
  // Never destroyed: a library may be looked for while other globals are torn down.
  static Directories* instance = new Directories;
  return *instance;
}

// RTLD_LOCAL: a library of ours must not answer for symbols that another package resolves later.
constexpr int kOpenFlags = RTLD_NOW | RTLD_LOCAL;

// A file that exists and does not load (wrong architecture, a missing dependency) says more than "not found".
std::string take_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown loader error";
}

}  // namespace

void add_library_directory(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  Directories& all = directories();
  std::lock_guard lock(all.mutex);
  if (!path.empty() && std::find(all.paths.begin(), all.paths.end(), path) == all.paths.end()) {
    all.paths.push_back(std::move(path));
  }
}

std::vector<std::string> library_directories() {
  Directories& all = directories();
  std::lock_guard lock(all.mutex);
  return all.paths;
}

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& file_names) {
  if (file_names.empty()) {
    return invalid_argument("no library name was given");
  }
  for (const std::string& name : file_names) {
    if (void* handle = dlopen(name.c_str(), kOpenFlags | RTLD_NOLOAD)) {
      return DynamicLibrary(handle, name);
    }
  }
  const std::vector<std::string> folders = library_directories();
  for (const std::string& folder : folders) {
    for (const std::string& name : file_names) {
      const std::string path = folder + "/" + name;
      if (void* handle = dlopen(path.c_str(), kOpenFlags)) {
        return DynamicLibrary(handle, path);
      }
    }
  }
  std::string system_error;
  for (const std::string& name : file_names) {
    if (void* handle = dlopen(name.c_str(), kOpenFlags)) {
      return DynamicLibrary(handle, name);
    }
    if (system_error.empty()) {
      system_error = take_loader_error();
    }
  }
  return not_found(file_names.front() + " could not be loaded; it is not in the process, not in " +
                   std::to_string(folders.size()) +
                   " registered folders, and the system's search says: " + system_error);
}

Result<void*> DynamicLibrary::symbol(const char* name) const {
  dlerror();
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    return not_found(path() + " has no function " + name + "; it is probably of another version");
  }
  return address;
}

void DynamicLibrary::load_companion(const std::string& file_name) const {
  const std::string own = path();
  if (const size_t slash = own.rfind('/'); slash != std::string::npos) {
    // The handle is not kept: a library that was opened once answers every later search for its name.
    dlopen((own.substr(0, slash + 1) + file_name).c_str(), kOpenFlags);
  }
}

std::string DynamicLibrary::path() const {
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr ||
      map->l_name[0] == '\0') {
    return name_;
  }
  return map->l_name;
}

}  // namespace tessiq
