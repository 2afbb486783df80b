// Which of CUDA's libraries this process can load, from where and in which version, for reports on an installation.
//
// Asking loads each of them. Leaves to the *_api.h tables which functions are used, and to callers what a missing
// library costs.
#pragma once

#include <string>
#include <vector>

namespace tessiq {

struct LibraryFact {
  std::string name;     // the file name that is sought: libnvrtc.so.13
  std::string path;     // the file it was loaded from
  std::string version;  // as the library says it; empty where it cannot
  std::string problem;  // why it is not loaded; empty where it is
};

// The driver's library first. Empty in a build without CUDA.
std::vector<LibraryFact> cuda_library_facts();

}  // namespace tessiq
