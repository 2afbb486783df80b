#include "codegen/libraries/convolution.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "codegen/libraries/cudnn_plan.h"
#include "codegen/libraries/plan_cache.h"
#include "codegen/loaded_kernel.h"
#include "cuda_api/cudnn_api.h"
#include "runtime/cuda/cuda_device.h"

namespace tessiq::libraries {
namespace {

constexpr uintptr_t kAlignment = 16;

// One a device. A handle has the stream of its last call, so it serves one call at a time.
struct Handle {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
};

Result<Handle*> handle_of(const CudnnApi& api, CudaDevice& device) {
  static std::mutex mutex;
  // Never destroyed: at exit the driver may be gone before statics are.
  static auto* handles = new std::map<int, Handle>();
  const std::lock_guard lock(mutex);
  Handle& handle = (*handles)[to_int(device.ordinal())];
  if (handle.handle == nullptr) {
    TESSIQ_RETURN_IF_ERROR(check_cudnn(api, api.cudnnCreate(&handle.handle), "creating a cuDNN handle"));
  }
  return &handle;
}

using ConvolutionKey = PlanKey<46>;

ConvolutionKey key_of(Ordinal device, const ConvolutionProblem& problem) {
  ConvolutionKey key{};
  auto end = key.begin();
  for (const ConvolutionTensor* tensor : {&problem.image, &problem.filter, &problem.response}) {
    end = std::copy(tensor->sizes.begin(), tensor->sizes.end(), end);
    end = std::copy(tensor->strides.begin(), tensor->strides.end(), end);
  }
  for (const auto* numbers : {&problem.stride, &problem.padding, &problem.dilation}) {
    end = std::copy(numbers->begin(), numbers->end(), end);
  }
  for (const int64_t number :
       {static_cast<int64_t>(problem.computes), int64_t{problem.axes}, static_cast<int64_t>(problem.element),
        int64_t{problem.allow_tf32}, int64_t{problem.deterministic}, int64_t{to_int(device)}}) {
    *end++ = number;
  }
  return key;
}

using PlanOrRefusal = Result<std::shared_ptr<ConvolutionPlan>>;

PlanCache<ConvolutionKey, PlanOrRefusal>& plans() {
  static auto* cache = new PlanCache<ConvolutionKey, PlanOrRefusal>();
  return *cache;
}

Result<CudaDevice*> gpu(Device& device) {
  if (device.kind() != DeviceKind::kCuda) {
    return unsupported("a convolution through cuDNN: the device is no GPU");
  }
  return static_cast<CudaDevice*>(&device);
}

}  // namespace

Result<std::shared_ptr<ConvolutionPlan>> convolution_plan(Device& device, const ConvolutionProblem& problem) {
  TESSIQ_ASSIGN_OR_RETURN(CudaDevice * cuda_device, gpu(device));
  const ConvolutionKey key = key_of(cuda_device->ordinal(), problem);
  if (auto known = plans().find(key)) {
    return *std::move(known);
  }
  const Result<const CudnnApi*> api = cudnn_api();
  if (!api) {
    return unsupported(api.error().message());
  }
  TESSIQ_RETURN_IF_ERROR(cuda_device->select());
  TESSIQ_ASSIGN_OR_RETURN(Handle * handle, handle_of(**api, *cuda_device));
  const std::lock_guard lock(handle->mutex);
  PlanOrRefusal plan = ConvolutionPlan::create((*api)->library, handle->handle, problem);
  plans().set(key, plan);
  return plan;
}

Bytes workspace_of(const ConvolutionPlan& plan) { return plan.workspace(); }

std::string describe(const ConvolutionPlan& plan) { return plan.name(); }

Result<void> convolve(Device& device, ConvolutionPlan& plan, const ConvolutionPointers& pointers, Workspace workspace,
                      void* native_stream) {
  TESSIQ_ASSIGN_OR_RETURN(CudaDevice * cuda_device, gpu(device));
  for (const void* pointer : {pointers.left, pointers.right, static_cast<const void*>(pointers.result)}) {
    if (reinterpret_cast<uintptr_t>(pointer) % kAlignment != 0) {
      return unsupported("a convolution of a tensor that does not begin at a multiple of 16 bytes");
    }
  }
  TESSIQ_RETURN_IF_ERROR(cuda_device->select());
  TESSIQ_ASSIGN_OR_RETURN(const CudnnApi* api, cudnn_api());
  TESSIQ_ASSIGN_OR_RETURN(Handle * handle, handle_of(*api, *cuda_device));
  const std::lock_guard lock(handle->mutex);
  TESSIQ_RETURN_IF_ERROR(check_cudnn(
      *api, api->cudnnSetStream(handle->handle, static_cast<cudaStream_t>(native_stream)), "choosing a stream"));
  TESSIQ_RETURN_IF_ERROR(plan.run(handle->handle, pointers, workspace.pointer));
  codegen::kernel_counters().library_calls.fetch_add(1, std::memory_order_relaxed);
  return {};
}

bool has_convolutions(const Device& device) { return device.kind() == DeviceKind::kCuda && cudnn_api().ok(); }

}  // namespace tessiq::libraries
