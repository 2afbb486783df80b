// Which compiled image holds which kernel, so that a kernel is found whatever it was compiled together with.
//
// Decides what is compiled and what is read. Leaves to targets how text becomes a binary and how that is loaded.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/cache/disk_cache.h"
#include "support/result.h"

namespace tessiq::cache {

struct KernelText {
  std::string key;  // everything the compiled kernel depends on, as CacheKey::hex
  std::string body;
};

// A binary with the kernels at `kernels` (positions in the request) in it.
struct Image {
  std::string binary;
  std::string file;  // where it lies on disk; empty where it could not be kept
  std::vector<size_t> kernels;
  bool compiled = false;  // now, rather than read
};

// Binaries for these bodies, in one image.
using CompileImage = std::function<Result<std::string>(std::span<const std::string> bodies)>;

// Every kernel in exactly one image. `kind` is the file ending of images ("cubin", "so"). Kernels that no entry
// holds are compiled in at most `parallel` images side by side.
Result<std::vector<Image>> find_or_compile(const DiskCache& cache, std::span<const KernelText> kernels,
                                           const std::string& kind, int parallel, const CompileImage& compile);

}  // namespace tessiq::cache
