// Memory, copies and properties of a GPU. Streams' and events' calls are in cuda_device_ordering.cpp.
#include "runtime/cuda/cuda_device.h"

#include <string>

#include "cuda_api/cuda_error.h"
#include "runtime/cuda/cuda_process.h"
#include "support/log.h"

namespace tessiq {
namespace {

std::string with_size(const char* call, Bytes size) {
  return std::string(call) + " of " + std::to_string(size.value) + " bytes";
}

// A free at the end of the process, or in a forked child, finds no driver; the operating system takes the memory back.
bool worth_logging(cudaError_t status) { return status != cudaSuccess && status != cudaErrorCudartUnloading; }

}  // namespace

CudaDevice::CudaDevice(const CudaRuntimeApi& api, DeviceIndex index, Ordinal ordinal)
    : api_(api), index_(index), ordinal_(ordinal), streams_(api, index) {}

Result<void> CudaDevice::select() {
  TESSIQ_RETURN_IF_ERROR(refuse_in_forked_child());
  note_cuda_started();
  TESSIQ_RETURN_IF_ERROR(check_cuda(api_, api_.cudaSetDevice(to_int(ordinal_)), "cudaSetDevice"));
  selected_once_.store(true, std::memory_order_relaxed);
  return {};
}

Result<DeviceProperties> CudaDevice::properties() {
  std::lock_guard lock(properties_mutex_);
  if (properties_known_) {
    return properties_;
  }
  TESSIQ_RETURN_IF_ERROR(refuse_in_forked_child());
  // Names its ordinal, so nothing is selected and no context is made: printing a machine's GPUs must not start them.
  cudaDeviceProp found{};
  TESSIQ_RETURN_IF_ERROR(
      check_cuda(api_, api_.cudaGetDeviceProperties(&found, to_int(ordinal_)), "cudaGetDeviceProperties"));
  properties_.name = found.name;
  properties_.total_memory = Bytes{found.totalGlobalMem};
  properties_.compute_major = found.major;
  properties_.compute_minor = found.minor;
  properties_.multiprocessor_count = found.multiProcessorCount;
  properties_.l2_cache = Bytes{static_cast<size_t>(found.l2CacheSize)};
  properties_.shared_memory = Bytes{found.sharedMemPerBlockOptin};
  properties_known_ = true;
  return properties_;
}

Result<void*> CudaDevice::allocate(Bytes size) {
  if (size.value == 0) {
    return static_cast<void*>(nullptr);
  }
  TESSIQ_RETURN_IF_ERROR(select());
  void* pointer = nullptr;
  const cudaError_t status = api_.cudaMalloc(&pointer, size.value);
  if (status != cudaSuccess) {
    return cuda_error(api_, status, with_size("cudaMalloc", size));
  }
  return pointer;
}

void CudaDevice::deallocate(void* pointer, Bytes size) noexcept {
  if (pointer == nullptr || in_forked_child()) {
    return;
  }
  cudaError_t status = api_.cudaSetDevice(to_int(ordinal_));
  status = status == cudaSuccess ? api_.cudaFree(pointer) : status;
  if (worth_logging(status)) {
    log_warning("cuda", cuda_error(api_, status, with_size("cudaFree", size)).message());
  }
}

Result<void> CudaDevice::copy(void* target, const void* source, Bytes size, cudaMemcpyKind kind, cudaStream_t stream,
                              const char* action) {
  const cudaError_t status = api_.cudaMemcpyAsync(target, source, size.value, kind, stream);
  return status == cudaSuccess ? Result<void>() : cuda_error(api_, status, with_size(action, size));
}

Result<void> CudaDevice::wait_if(Blocking blocking, cudaStream_t stream) {
  if (blocking == Blocking::kNo) {
    return {};
  }
  return check_cuda(api_, api_.cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Result<void> CudaDevice::copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  if (size.value > 0) {
    // From ordinary memory the driver returns once it has the bytes; from pinned memory the caller keeps them alive.
    TESSIQ_RETURN_IF_ERROR(copy(device, host, size, cudaMemcpyHostToDevice, native, "copy to the device"));
  }
  return wait_if(blocking, native);
}

Result<void> CudaDevice::copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  if (size.value > 0) {
    TESSIQ_RETURN_IF_ERROR(copy(host, device, size, cudaMemcpyDeviceToHost, native, "copy to the host"));
  }
  return wait_if(blocking, native);
}

Result<void> CudaDevice::copy_on_device(void* target, const void* source, Bytes size, Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  if (size.value == 0) {
    return {};
  }
  // Where the source is a peer's, its address says so: all GPUs of a process share one address space.
  return copy(target, source, size, cudaMemcpyDeviceToDevice, native, "copy on the device");
}

Result<void> CudaDevice::fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  if (size.value == 0) {
    return {};
  }
  return check_cuda(api_, api_.cudaMemsetAsync(target, value, size.value, native), "cudaMemsetAsync");
}

Result<MemoryInfo> CudaDevice::memory_info() {
  TESSIQ_RETURN_IF_ERROR(select());
  MemoryInfo info;
  TESSIQ_RETURN_IF_ERROR(check_cuda(api_, api_.cudaMemGetInfo(&info.free.value, &info.total.value), "cudaMemGetInfo"));
  return info;
}

bool CudaDevice::can_access_peer(const Device& other) const {
  if (other.kind() != DeviceKind::kCuda) {
    return false;
  }
  if (other.ordinal() == ordinal_) {
    return true;
  }
  std::lock_guard lock(peers_mutex_);
  const auto known = peers_.find(to_int(other.ordinal()));
  if (known != peers_.end()) {
    return known->second;
  }
  const bool open = open_path_to(other.ordinal());
  peers_[to_int(other.ordinal())] = open;
  return open;
}

bool CudaDevice::open_path_to(Ordinal other) const {
  int can = 0;
  if (in_forked_child() || api_.cudaDeviceCanAccessPeer(&can, to_int(ordinal_), to_int(other)) != cudaSuccess ||
      can == 0) {
    (void)api_.cudaGetLastError();
    return false;
  }
  cudaError_t status = api_.cudaSetDevice(to_int(ordinal_));
  status = status == cudaSuccess ? api_.cudaDeviceEnablePeerAccess(to_int(other), 0) : status;
  if (status != cudaSuccess) {
    (void)api_.cudaGetLastError();
  }
  // PyTorch's CUDA code may have opened it before.
  return status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
}

Result<void*> CudaDevice::allocate_pinned(Bytes size) {
  if (size.value == 0) {
    return static_cast<void*>(nullptr);
  }
  TESSIQ_RETURN_IF_ERROR(select());
  void* pointer = nullptr;
  // Portable: pinned for every GPU of the process and not only for the one that was current.
  const cudaError_t status = api_.cudaHostAlloc(&pointer, size.value, cudaHostAllocPortable);
  if (status != cudaSuccess) {
    return cuda_error(api_, status, with_size("cudaHostAlloc", size));
  }
  return pointer;
}

void CudaDevice::deallocate_pinned(void* pointer, Bytes size) noexcept {
  if (pointer == nullptr || in_forked_child()) {
    return;
  }
  const cudaError_t status = api_.cudaFreeHost(pointer);
  if (worth_logging(status)) {
    log_warning("cuda", cuda_error(api_, status, with_size("cudaFreeHost", size)).message());
  }
}

}  // namespace tessiq
