// Keeps the tests' compiled programs away from the user's, and from one run to the next: the second run is quick.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tessiq {

class TestCache : public testing::Environment {
 public:
  void SetUp() override {
    const std::string directory = testing::TempDir() + "tessiq-tests-" + std::to_string(::getuid());
    ::setenv("TESSIQ_CACHE_DIR", directory.c_str(), 0);
  }
};

}  // namespace tessiq
