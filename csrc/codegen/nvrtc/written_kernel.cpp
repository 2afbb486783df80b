#include "codegen/nvrtc/written_kernel.h"

#include <cuda.h>

#include <map>
#include <mutex>
#include <utility>

#include "codegen/cache/cache_key.h"
#include "codegen/cache/image_cache.h"
#include "codegen/loaded_kernel.h"
#include "codegen/nvrtc/compiler.h"
#include "codegen/nvrtc/cuda_loop.h"
#include "cuda_api/cuda_error.h"
#include "cuda_api/driver_api.h"
#include "runtime/cuda/cuda_device.h"

namespace tessiq::nvrtc {
namespace {

std::string refusal_of(const std::string& name) { return "the kernel of " + name; }

class CudaWrittenKernel : public LoadedWrittenKernel {
 public:
  CudaWrittenKernel(CudaDevice& device, const CudaDriverApi& driver, CUmodule module, std::string name)
      : device_(device), driver_(driver), module_(module), name_(std::move(name)) {}

  Result<void> launch(const std::string& instance, const LaunchGrid& grid, std::span<void*> parameters,
                      void* native_stream) override {
    TESSIQ_RETURN_IF_ERROR(device_.select());
    TESSIQ_ASSIGN_OR_RETURN(CUfunction function, function_of(instance));
    const auto& [x, y, z] = grid.blocks;
    const auto& [threads_x, threads_y, threads_z] = grid.threads;
    const CUresult status =
        driver_.cuLaunchKernel(function, x, y, z, threads_x, threads_y, threads_z, grid.shared_bytes,
                               static_cast<CUstream>(native_stream), parameters.data(), nullptr);
    if (status != CUDA_SUCCESS) {
      return cuda_error(driver_, status, "launch of kernel " + name_);
    }
    codegen::kernel_counters().cuda_launches.fetch_add(1, std::memory_order_relaxed);
    return {};
  }

 private:
  Result<CUfunction> function_of(const std::string& instance) {
    const std::lock_guard lock(mutex_);
    CUfunction& found = functions_[instance];
    if (found == nullptr) {
      TESSIQ_ASSIGN_OR_RETURN(found, load_function(instance.empty() ? name_ : name_ + "_" + instance));
    }
    return found;
  }

  Result<CUfunction> load_function(const std::string& name) {
    CUfunction function = nullptr;
    TESSIQ_RETURN_IF_ERROR(check_cuda(driver_, driver_.cuModuleGetFunction(&function, module_, name.c_str()),
                                      "finding " + name + " in the kernel file of " + name_));
    // Above 48 KB a kernel has to be allowed its shared memory; its static part comes off the same limit.
    TESSIQ_ASSIGN_OR_RETURN(const DeviceProperties properties, device_.properties());
    int fixed = 0;
    TESSIQ_RETURN_IF_ERROR(check_cuda(
        driver_, driver_.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), "asking a kernel"));
    const auto limit = static_cast<int>(shared_limit(properties)) - fixed;
    TESSIQ_RETURN_IF_ERROR(check_cuda(
        driver_, driver_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit),
        "giving " + refusal_of(name) + " shared memory"));
    return function;
  }

  CudaDevice& device_;
  const CudaDriverApi& driver_;
  CUmodule module_;
  std::string name_;
  std::mutex mutex_;
  std::map<std::string, CUfunction> functions_;  // by instance
};

Result<std::string> image_of(const WrittenKernel& kernel, const std::string& architecture) {
  TESSIQ_ASSIGN_OR_RETURN(const std::string nvrtc_version, version());
  cache::CacheKey key;
  key.add("written").add(nvrtc_version).add(architecture).add(kernel.name).add(kernel.source);
  const std::vector<cache::KernelText> texts = {{key.hex(), kernel.source}};
  const auto compile_image = [&](std::span<const std::string> bodies) {
    codegen::kernel_counters().compilations.fetch_add(1, std::memory_order_relaxed);
    return compile(bodies.front(), architecture, refusal_of(kernel.name));
  };
  TESSIQ_ASSIGN_OR_RETURN(std::vector<cache::Image> images,
                          cache::find_or_compile(cache::DiskCache::of_user(), texts, "cubin", 1, compile_image));
  if (!images.front().compiled) {
    codegen::kernel_counters().disk_cache_hits.fetch_add(1, std::memory_order_relaxed);
  }
  return std::move(images.front().binary);
}

Result<std::shared_ptr<LoadedWrittenKernel>> load(CudaDevice& device, const WrittenKernel& kernel) {
  TESSIQ_ASSIGN_OR_RETURN(const CudaDriverApi* driver, cuda_driver_api());
  TESSIQ_ASSIGN_OR_RETURN(const std::string architecture, architecture_of(device));
  TESSIQ_ASSIGN_OR_RETURN(const std::string image, image_of(kernel, architecture));
  TESSIQ_RETURN_IF_ERROR(device.select());
  // Never unloaded, as the modules of generated loops are not.
  CUmodule module = nullptr;
  TESSIQ_RETURN_IF_ERROR(
      check_cuda(*driver, driver->cuModuleLoadData(&module, image.c_str()), "loading " + refusal_of(kernel.name)));
  return std::shared_ptr<LoadedWrittenKernel>(
      std::make_shared<CudaWrittenKernel>(device, *driver, module, kernel.name));
}

struct Loaded {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, std::shared_ptr<LoadedWrittenKernel>> kernels;  // by device and source
};

Loaded& loaded() {
  static auto* instance = new Loaded();  // never destroyed: kernels outlive statics
  return *instance;
}

}  // namespace

Result<std::shared_ptr<LoadedWrittenKernel>> load_written_kernel(Device& device, const WrittenKernel& kernel) {
  if (device.kind() != DeviceKind::kCuda) {
    return internal("a kernel for a GPU was asked of a device that is none");
  }
  auto& cuda_device = static_cast<CudaDevice&>(device);
  const std::lock_guard lock(loaded().mutex);
  auto& found = loaded().kernels[{to_int(cuda_device.ordinal()), kernel.source}];
  if (found == nullptr) {
    TESSIQ_ASSIGN_OR_RETURN(found, load(cuda_device, kernel));
  }
  return found;
}

Result<void> try_written_kernel(const WrittenKernel& kernel, std::span<const std::string> architectures) {
  for (const std::string& architecture : architectures) {
    TESSIQ_ASSIGN_OR_RETURN(const std::string image, compile(kernel.source, architecture, refusal_of(kernel.name)));
    // The name of a function's section in a cubin. One that is not extern "C" is mangled, and no launch would find it.
    const std::string section = ".text." + kernel.name;
    if (image.find(section + '\0') == std::string::npos && image.find(section + '_') == std::string::npos) {
      return invalid_argument(refusal_of(kernel.name) + " defines no function extern \"C\" __global__ " + kernel.name);
    }
  }
  return {};
}

Result<std::string> architecture_of(Device& device) {
  TESSIQ_ASSIGN_OR_RETURN(const DeviceProperties properties, device.properties());
  return target_architecture({properties.compute_major, properties.compute_minor});
}

Result<std::vector<std::string>> outermost_architectures() {
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<int> known, supported_architectures());
  if (known.empty()) {
    return unsupported("this NVRTC compiles for no GPU");
  }
  return std::vector<std::string>{"sm_" + std::to_string(known.front()), "sm_" + std::to_string(known.back())};
}

}  // namespace tessiq::nvrtc
