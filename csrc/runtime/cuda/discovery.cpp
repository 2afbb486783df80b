// Discovery in both kinds of build.
#include "runtime/cuda/discovery.h"

#if TESSIQ_HAS_CUDA
#include "cuda_api/cuda_error.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_process.h"
#endif

namespace tessiq {

#if TESSIQ_HAS_CUDA
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// cudaGetDeviceCount reports a missing driver as an old one; the driver's own version tells them apart.
std::string why_none(const CudaRuntimeApi& api, cudaError_t status) {
  int driver = 0;
  if (api.cudaDriverGetVersion(&driver) != cudaSuccess) {
    (void)api.cudaGetLastError();
    driver = 0;
  }
  if (driver == 0) {
    return "no NVIDIA driver is installed";
  }
  if (status == cudaErrorInsufficientDriver) {
    int runtime = 0;
    (void)api.cudaRuntimeGetVersion(&runtime);
    return "the NVIDIA driver supports CUDA " + version_text(driver) + ", and the runtime library is CUDA " +
           version_text(runtime) + "; a newer driver is needed";
  }
  return cuda_error(api, status, "counting GPUs").message();
}

}  // namespace

CudaDiscovery discover_cuda_devices(DeviceIndex first) {
  if (auto usable = refuse_in_forked_child(); !usable) {
    return {{}, usable.error().message()};
  }
  return discover_cuda_devices(first, cuda_runtime_api());
}

CudaDiscovery discover_cuda_devices(DeviceIndex first, const Result<const CudaRuntimeApi*>& runtime) {
  if (!runtime) {
    return {{}, runtime.error().message()};
  }
  const CudaRuntimeApi& api = **runtime;
  int count = 0;
  note_cuda_started();
  const cudaError_t status = api.cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    std::string note = why_none(api, status);
    (void)api.cudaGetLastError();
    return {{}, std::move(note)};
  }
  if (count == 0) {
    return {{}, "the NVIDIA driver reports no GPU"};
  }
  CudaDiscovery found;
  for (int i = 0; i < count; ++i) {
    const DeviceIndex index{static_cast<int16_t>(to_int(first) + i)};
    found.devices.push_back(std::make_unique<CudaDevice>(api, index, Ordinal{i}));
  }
  return found;
}
#else
CudaDiscovery discover_cuda_devices(DeviceIndex) { return {{}, "tessiq was built without CUDA"}; }

CudaDiscovery discover_cuda_devices(DeviceIndex first, const Result<const CudaRuntimeApi*>&) {
  return discover_cuda_devices(first);
}
#endif

}  // namespace tessiq
