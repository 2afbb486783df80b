// The pool streams of one GPU, made when first handed out.
//
// Decides their number and ids: per priority level 32 streams, as PyTorch has them, handed out in turn; id 0 is the
// legacy default stream. Thread-safe. The caller has selected the device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda_api/runtime_api.h"
#include "runtime/device.h"

namespace tessiq {

class CudaStreamPool {
 public:
  CudaStreamPool(const CudaRuntimeApi& api, DeviceIndex device) : api_(api), device_(device) {}

  Result<Stream> next(int priority);
  // kInvalidArgument for another device's stream, or one that the pool never handed out.
  Result<cudaStream_t> native(Stream stream);

 private:
  static constexpr int kStreamsPerLevel = 32;
  // CUDA has six levels today; a finer scale than this one is clamped.
  static constexpr int kMaxLevels = 8;

  Result<void> learn_levels();
  Result<cudaStream_t> create(int level);

  const CudaRuntimeApi& api_;
  const DeviceIndex device_;

  std::mutex mutex_;
  int levels_ = 0;  // 0 until learned
  int turn_[kMaxLevels] = {};
  // Read without the lock on every call that names a pool stream; null until created.
  std::atomic<cudaStream_t> streams_[kMaxLevels * kStreamsPerLevel] = {};
};

}  // namespace tessiq
