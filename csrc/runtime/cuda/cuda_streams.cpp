// Creation and look-up of cuda_streams.h.
#include "runtime/cuda/cuda_streams.h"

#include <algorithm>
#include <string>

#include "cuda_api/cuda_error.h"

namespace tessiq {

Result<void> CudaStreamPool::learn_levels() {
  if (levels_ > 0) {
    return {};
  }
  int least = 0;
  int greatest = 0;
  TESSIQ_RETURN_IF_ERROR(
      check_cuda(api_, api_.cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange"));
  levels_ = std::clamp(least - greatest + 1, 1, kMaxLevels);
  return {};
}

Result<cudaStream_t> CudaStreamPool::create(int level) {
  cudaStream_t stream = nullptr;
  // Non-blocking: a pool stream that the legacy stream waits for would overlap with nothing.
  const cudaError_t status = api_.cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -level);
  TESSIQ_RETURN_IF_ERROR(check_cuda(api_, status, "cudaStreamCreateWithPriority"));
  return stream;
}

Result<Stream> CudaStreamPool::next(int priority) {
  std::lock_guard lock(mutex_);
  TESSIQ_RETURN_IF_ERROR(learn_levels());
  const int level = -std::clamp(priority, 1 - levels_, 0);
  const int slot = level * kStreamsPerLevel + turn_[level];
  if (streams_[slot].load(std::memory_order_relaxed) == nullptr) {
    TESSIQ_ASSIGN_OR_RETURN(cudaStream_t stream, create(level));
    streams_[slot].store(stream, std::memory_order_release);
  }
  turn_[level] = (turn_[level] + 1) % kStreamsPerLevel;
  return Stream{device_, 1 + slot};
}

Result<cudaStream_t> CudaStreamPool::native(Stream stream) {
  if (stream.device != device_) {
    return invalid_argument("a stream of device " + std::to_string(to_int(stream.device)) + " was given to device " +
                            std::to_string(to_int(device_)));
  }
  if (stream.id == 0) {
    // Null names the legacy default stream, in PyTorch's CUDA code as here.
    return static_cast<cudaStream_t>(nullptr);
  }
  const bool in_pool = stream.id > 0 && stream.id <= int64_t{kMaxLevels} * kStreamsPerLevel;
  cudaStream_t native = in_pool ? streams_[stream.id - 1].load(std::memory_order_acquire) : nullptr;
  if (native == nullptr) {
    return invalid_argument("device " + std::to_string(to_int(device_)) + " has no stream " +
                            std::to_string(stream.id));
  }
  return native;
}

}  // namespace tessiq
