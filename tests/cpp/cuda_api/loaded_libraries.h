// Where tests find CUDA's libraries: the project's environment, then whatever the system has.
#pragma once

#include <filesystem>
#include <string>

#include "cuda_api/dynamic_library.h"

namespace tessiq::testing_support {

// Registers the folders of the nvidia wheels in the project's environment, where there is one.
inline void register_wheel_libraries() {
  std::error_code ignored;
  const std::filesystem::path root = std::filesystem::path(TESSIQ_SOURCE_DIR) / ".venv" / "lib";
  for (const auto& python : std::filesystem::directory_iterator(root, ignored)) {
    const std::filesystem::path folder = python.path() / "site-packages" / "nvidia" / "cu13" / "lib";
    if (std::filesystem::is_directory(folder, ignored)) {
      add_library_directory(folder.string());
    }
  }
}

}  // namespace tessiq::testing_support
