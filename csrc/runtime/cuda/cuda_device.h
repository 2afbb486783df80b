// An NVIDIA GPU through the CUDA runtime.
//
// Decides: constructing touches nothing; every call selects this device's ordinal first, because CUDA's current device
// belongs to the thread and PyTorch's own CUDA code moves it; the default stream is the legacy default stream and pool
// streams are non-blocking. Leaves kernels to codegen, which calls select() before it calls the driver.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "cuda_api/runtime_api.h"
#include "runtime/cuda/cuda_streams.h"
#include "runtime/device.h"

namespace tessiq {

class CudaDevice final : public Device {
 public:
  CudaDevice(const CudaRuntimeApi& api, DeviceIndex index, Ordinal ordinal);
  // Streams are not destroyed: devices live as long as the process, and at its end the driver is already gone.
  ~CudaDevice() override = default;

  // Makes this device, and its context, current for the calling thread. The first call creates the context.
  Result<void> select();

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  Ordinal ordinal() const override { return ordinal_; }
  Result<DeviceProperties> properties() override;

  Result<void*> allocate(Bytes size) override;
  void deallocate(void* pointer, Bytes size) noexcept override;

  Result<void> copy_to_device(void* device, const void* host, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_to_host(void* host, const void* device, Bytes size, Stream stream, Blocking blocking) override;
  Result<void> copy_on_device(void* target, const void* source, Bytes size, Stream stream) override;
  Result<void> fill_bytes(void* target, uint8_t value, Bytes size, Stream stream) override;

  // `priority` as in CUDA: 0 is the lowest, negative numbers are more urgent; clamped to what the device has.
  Result<Stream> stream_from_pool(int priority) override;
  Result<void*> native_stream(Stream stream) override;
  Result<bool> stream_is_done(Stream stream) override;
  Result<void> synchronize_stream(Stream stream) override;
  Result<void> synchronize() override;

  Result<Event> create_event(Timing timing) override;
  void destroy_event(Event event) noexcept override;
  Result<void> record_event(Event event, Stream stream) override;
  // The event may be another GPU's.
  Result<void> wait_event(Stream stream, Event event) override;
  Result<bool> event_is_done(Event event) override;
  Result<void> synchronize_event(Event event) override;
  Result<double> elapsed_milliseconds(Event start, Event end) override;

  Result<MemoryInfo> memory_info() override;
  bool can_access_peer(const Device& other) const override;

  Result<void*> allocate_pinned(Bytes size) override;
  void deallocate_pinned(void* pointer, Bytes size) noexcept override;

 private:
  // The device selected, and the stream's native form.
  Result<cudaStream_t> select_stream(Stream stream);
  Result<void> copy(void* target, const void* source, Bytes size, cudaMemcpyKind kind, cudaStream_t stream,
                    const char* action);
  Result<void> wait_if(Blocking blocking, cudaStream_t stream);
  // "done" or "not ready" of a query, as a value.
  Result<bool> done(cudaError_t status, const char* action);
  bool untouched() const;
  bool open_path_to(Ordinal other) const;

  const CudaRuntimeApi& api_;
  const DeviceIndex index_;
  const Ordinal ordinal_;
  // Set by the first select(): a device that nobody used has nothing to wait for.
  std::atomic<bool> selected_once_{false};
  CudaStreamPool streams_;

  std::mutex properties_mutex_;
  bool properties_known_ = false;
  DeviceProperties properties_;

  mutable std::mutex peers_mutex_;
  mutable std::map<int, bool> peers_;
};

}  // namespace tessiq
