#include "codegen/nvrtc/compile_loops.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "codegen/cache/cache_key.h"
#include "codegen/cache/image_cache.h"
#include "codegen/nvrtc/compiler.h"
#include "codegen/nvrtc/cuda_loop.h"
#include "cuda_api/cuda_error.h"

namespace tessiq::nvrtc {
namespace {

// What this process has loaded, by device and key; kept for its life.
class LoadedCode {
 public:
  std::shared_ptr<const CudaCode> find(Ordinal device, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = code_.find({to_int(device), key});
    return found == code_.end() ? nullptr : found->second;
  }
  void add(Ordinal device, const std::string& key, std::shared_ptr<const CudaCode> code) {
    const std::lock_guard lock(mutex_);
    code_.emplace(std::pair(to_int(device), key), std::move(code));
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::shared_ptr<const CudaCode>> code_;
};

LoadedCode& loaded_code() {
  static auto* code = new LoadedCode();  // never destroyed: kernels outlive statics
  return *code;
}

struct Wanted {
  cache::KernelText text;
  emit::KernelSource source;
};

struct Target {
  CudaDevice& device;
  const CudaDriverApi& driver;
  std::string architecture;
  std::string version;
  DeviceProperties properties;
};

Result<Target> target_of(Device& device) {
  if (device.kind() != DeviceKind::kCuda) {
    return internal("loops for a GPU were asked of a device that is none");
  }
  auto& cuda_device = static_cast<CudaDevice&>(device);
  TESSIQ_ASSIGN_OR_RETURN(const DeviceProperties properties, cuda_device.properties());
  TESSIQ_ASSIGN_OR_RETURN(const CudaDriverApi* driver, cuda_driver_api());
  TESSIQ_ASSIGN_OR_RETURN(std::string architecture,
                          target_architecture({properties.compute_major, properties.compute_minor}));
  TESSIQ_ASSIGN_OR_RETURN(std::string nvrtc_version, version());
  return Target{cuda_device, *driver, std::move(architecture), std::move(nvrtc_version), properties};
}

Result<void> load_image(const Target& target, const cache::Image& image, std::span<const Wanted> wanted) {
  TESSIQ_RETURN_IF_ERROR(target.device.select());
  CUmodule module = nullptr;
  TESSIQ_RETURN_IF_ERROR(check_cuda(target.driver, target.driver.cuModuleLoadData(&module, image.binary.c_str()),
                                    "loading generated code"));
  for (const size_t kernel : image.kernels) {
    auto code = std::make_shared<CudaCode>();
    code->source = wanted[kernel].source.text;
    for (const emit::KernelVariant& variant : wanted[kernel].source.variants) {
      CUfunction& entry = code->entries.emplace_back();
      TESSIQ_RETURN_IF_ERROR(check_cuda(target.driver,
                                        target.driver.cuModuleGetFunction(&entry, module, variant.entry.c_str()),
                                        "finding " + variant.entry + " in generated code"));
      if (variant.shared_bytes_per_element > 0) {
        const auto limit = static_cast<int>(shared_limit(target.properties));
        TESSIQ_RETURN_IF_ERROR(
            check_cuda(target.driver,
                       target.driver.cuFuncSetAttribute(entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit),
                       "giving a kernel shared memory"));
      }
    }
    loaded_code().add(target.device.ordinal(), wanted[kernel].text.key, std::move(code));
  }
  return {};
}

Result<void> load(const Target& target, std::span<const Wanted> wanted) {
  std::vector<cache::KernelText> texts;
  for (const Wanted& kernel : wanted) {
    texts.push_back(kernel.text);
  }
  auto compile_image = [&](std::span<const std::string> bodies) {
    codegen::kernel_counters().compilations.fetch_add(1, std::memory_order_relaxed);
    return compile(emit::joined_cuda(bodies), target.architecture);
  };
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<cache::Image> images,
                          cache::find_or_compile(cache::DiskCache::of_user(), texts, "cubin", cores, compile_image));
  for (const cache::Image& image : images) {
    if (!image.compiled) {
      codegen::kernel_counters().disk_cache_hits.fetch_add(1, std::memory_order_relaxed);
    }
    TESSIQ_RETURN_IF_ERROR(load_image(target, image, wanted));
  }
  return {};
}

}  // namespace

Result<std::vector<std::shared_ptr<codegen::LoadedKernel>>> compile_loops(Device& device,
                                                                          std::span<const emit::LoopKernel> kernels) {
  std::vector<std::shared_ptr<codegen::LoadedKernel>> loaded;
  if (kernels.empty()) {
    return loaded;
  }
  TESSIQ_ASSIGN_OR_RETURN(const Target target, target_of(device));
  const Ordinal ordinal = target.device.ordinal();
  std::vector<std::string> keys;
  std::vector<std::vector<emit::KernelVariant>> variants;
  std::vector<Wanted> wanted;
  for (const emit::LoopKernel& kernel : kernels) {
    TESSIQ_ASSIGN_OR_RETURN(emit::KernelSource source, emit::emit_cuda(emit::with_positional_names(kernel)));
    cache::CacheKey key;
    key.add("cuda").add(emit::kEmitterVersion).add(target.version).add(target.architecture).add(source.text);
    keys.push_back(key.hex());
    variants.push_back(source.variants);
    const bool known =
        std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& other) { return other.text.key == keys.back(); });
    if (!known && loaded_code().find(ordinal, keys.back()) == nullptr) {
      cache::KernelText text{keys.back(), source.body};
      wanted.push_back({std::move(text), std::move(source)});
    }
  }
  if (!wanted.empty()) {
    TESSIQ_RETURN_IF_ERROR(load(target, wanted));
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    loaded.push_back(std::make_shared<LoadedCudaLoop>(target.device, target.driver, kernels[k], std::move(variants[k]),
                                                      loaded_code().find(ordinal, keys[k]), target.properties));
  }
  return loaded;
}

}  // namespace tessiq::nvrtc
