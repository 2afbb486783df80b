#include "codegen/hostcc/compile_loops.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "codegen/cache/cache_key.h"
#include "codegen/cache/image_cache.h"
#include "codegen/hostcc/compiler.h"
#include "codegen/hostcc/host_loop.h"
#include "codegen/hostcc/scratch_directory.h"

namespace tessiq::hostcc {
namespace {

// Code once loaded stays for the life of the process: kernels hold its addresses, and a graph compiled later often
// needs the same loops.
class LoadedCode {
 public:
  std::shared_ptr<const HostCode> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = code_.find(key);
    return found == code_.end() ? nullptr : found->second;
  }
  void add(const std::string& key, std::shared_ptr<const HostCode> code) {
    const std::lock_guard lock(mutex_);
    code_.emplace(key, std::move(code));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const HostCode>> code_;
};

LoadedCode& loaded_code() {
  static auto* code = new LoadedCode();  // never destroyed: tensors may be freed, and kernels with them, after statics
  return *code;
}

struct Wanted {
  cache::KernelText text;
  emit::KernelSource source;
};

Result<void*> open_library(const cache::Image& image) {
  if (!image.file.empty()) {
    if (void* handle = ::dlopen(image.file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return handle;
    }
    // Gone between reading and opening, or on a file system that runs nothing: a copy does.
  }
  TESSIQ_ASSIGN_OR_RETURN(const ScratchDirectory scratch, ScratchDirectory::create());
  const std::string path = scratch.file("loops.so");
  TESSIQ_RETURN_IF_ERROR(write_file(path, image.binary));
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return external("loading generated code failed: " + std::string(reason == nullptr ? "" : reason));
  }
  return handle;
}

Result<void> load_image(const cache::Image& image, std::span<const Wanted> wanted) {
  TESSIQ_ASSIGN_OR_RETURN(void* handle, open_library(image));
  for (const size_t kernel : image.kernels) {
    const std::string& name = wanted[kernel].source.variants.front().entry;
    void* address = ::dlsym(handle, name.c_str());
    if (address == nullptr) {
      return internal("generated code has no function " + name);
    }
    loaded_code().add(wanted[kernel].text.key, std::make_shared<HostCode>(HostCode{reinterpret_cast<HostEntry>(address),
                                                                                   name, wanted[kernel].source.text}));
  }
  return {};
}

Result<void> load(std::span<const Wanted> wanted, const Compiler& compiler) {
  std::vector<cache::KernelText> texts;
  for (const Wanted& kernel : wanted) {
    texts.push_back(kernel.text);
  }
  auto compile = [&](std::span<const std::string> bodies) {
    codegen::kernel_counters().compilations.fetch_add(1, std::memory_order_relaxed);
    return compile_shared_object(compiler, emit::joined_host(bodies));
  };
  // One image: starting a compiler takes longer than most loops.
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<cache::Image> images,
                          cache::find_or_compile(cache::DiskCache::of_user(), texts, "so", 1, compile));
  for (const cache::Image& image : images) {
    if (!image.compiled) {
      codegen::kernel_counters().disk_cache_hits.fetch_add(1, std::memory_order_relaxed);
    }
    TESSIQ_RETURN_IF_ERROR(load_image(image, wanted));
  }
  return {};
}

}  // namespace

Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(std::span<const emit::LoopKernel> kernels) {
  std::vector<std::shared_ptr<codegen::LoadedKernel>> loaded;
  if (kernels.empty()) {
    return loaded;
  }
  TESSIQ_ASSIGN_OR_RETURN(const Compiler compiler, find_compiler());
  std::vector<std::string> keys;
  std::vector<Wanted> wanted;
  for (const emit::LoopKernel& kernel : kernels) {
    auto source = emit::emit_host(emit::with_positional_names(kernel));
    if (!source) {
      return std::move(source).error();
    }
    keys.push_back(
        cache::CacheKey().add("host").add(emit::kEmitterVersion).add(compiler.identity).add(source->text).hex());
    const bool known =
        std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& other) { return other.text.key == keys.back(); });
    if (!known && loaded_code().find(keys.back()) == nullptr) {
      wanted.push_back({{keys.back(), source->body}, *std::move(source)});
    }
  }
  if (!wanted.empty()) {
    TESSIQ_RETURN_IF_ERROR(load(wanted, compiler));
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    loaded.push_back(std::make_shared<LoadedHostLoop>(kernels[k], loaded_code().find(keys[k])));
  }
  return loaded;
}

}  // namespace tessiq::hostcc
