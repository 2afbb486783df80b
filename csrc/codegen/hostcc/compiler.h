// The system's C++ compiler, run without a shell.
#pragma once

#include <string>

#include "support/result.h"

namespace tessiq::hostcc {

struct Compiler {
  std::string path;      // absolute
  std::string identity;  // path, size and time of change: part of a cache key, and needs no process to be read
};

// TESSIQ_CXX, else CXX, else the first of c++, g++ and clang++ on PATH. kUnsupported where there is none, naming what
// was looked for.
Result<Compiler> find_compiler();

// The bytes of a shared object. kExternal with the compiler's whole output where it refuses.
Result<std::string> compile_shared_object(const Compiler& compiler, const std::string& source);

}  // namespace tessiq::hostcc
