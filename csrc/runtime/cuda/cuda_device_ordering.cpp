// Streams, events and waiting of a GPU.
#include <memory>
#include <new>

#include "cuda_api/cuda_error.h"
#include "cuda_api/driver_api.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_process.h"
#include "runtime/event_state.h"
#include "support/log.h"

namespace tessiq {
namespace {

struct CudaEventState : EventState {
  cudaEvent_t native = nullptr;
  // CUDA answers "invalid resource handle" for an event that was never recorded, which explains nothing to a user.
  std::atomic<bool> recorded{false};
};

Result<CudaEventState*> cuda_event(Event event) { return event_state<CudaEventState>(event, DeviceKind::kCuda); }

}  // namespace

Result<cudaStream_t> CudaDevice::select_stream(Stream stream) {
  TESSIQ_RETURN_IF_ERROR(select());
  return streams_.native(stream);
}

Result<bool> CudaDevice::done(cudaError_t status, const char* action) {
  if (status == cudaErrorNotReady) {
    // An answer, but the runtime records it as the last error, which PyTorch's launch checks read.
    (void)api_.cudaGetLastError();
    return false;
  }
  TESSIQ_RETURN_IF_ERROR(check_cuda(api_, status, action));
  return true;
}

Result<Stream> CudaDevice::stream_from_pool(int priority) {
  TESSIQ_RETURN_IF_ERROR(select());
  return streams_.next(priority);
}

Result<void*> CudaDevice::native_stream(Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, streams_.native(stream));
  return static_cast<void*>(native);
}

Result<bool> CudaDevice::stream_is_done(Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  return done(api_.cudaStreamQuery(native), "cudaStreamQuery");
}

Result<void> CudaDevice::synchronize_stream(Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  return check_cuda(api_, api_.cudaStreamSynchronize(native), "cudaStreamSynchronize");
}

// True when neither this object nor PyTorch's CUDA code has made a context, so that nothing can be queued.
bool CudaDevice::untouched() const {
  if (selected_once_.load(std::memory_order_relaxed)) {
    return false;
  }
  const Result<const CudaDriverApi*> driver = cuda_driver_api();
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  if (!driver || (*driver)->cuDeviceGet(&device, to_int(ordinal_)) != CUDA_SUCCESS ||
      (*driver)->cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS) {
    return false;
  }
  return active == 0;
}

Result<void> CudaDevice::synchronize() {
  TESSIQ_RETURN_IF_ERROR(refuse_in_forked_child());
  if (untouched()) {
    return {};
  }
  TESSIQ_RETURN_IF_ERROR(select());
  return check_cuda(api_, api_.cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Result<Event> CudaDevice::create_event(Timing timing) {
  TESSIQ_RETURN_IF_ERROR(select());
  auto state = std::unique_ptr<CudaEventState>(new (std::nothrow) CudaEventState);
  if (state == nullptr) {
    return resource_exhausted("out of host memory for an event");
  }
  state->kind = DeviceKind::kCuda;
  state->timing = timing;
  // Timing costs a write of the clock at each record, so only events that are asked to keep it.
  const unsigned flags = timing == Timing::kYes ? cudaEventDefault : cudaEventDisableTiming;
  TESSIQ_RETURN_IF_ERROR(
      check_cuda(api_, api_.cudaEventCreateWithFlags(&state->native, flags), "cudaEventCreateWithFlags"));
  return Event{static_cast<EventState*>(state.release())};
}

void CudaDevice::destroy_event(Event event) noexcept {
  auto state = cuda_event(event);
  if (!state) {
    return;
  }
  const std::unique_ptr<CudaEventState> owned(*state);
  if (in_forked_child()) {
    return;
  }
  const cudaError_t status = api_.cudaEventDestroy(owned->native);
  if (status != cudaSuccess && status != cudaErrorCudartUnloading) {
    log_warning("cuda", cuda_error(api_, status, "cudaEventDestroy").message());
  }
}

Result<void> CudaDevice::record_event(Event event, Stream stream) {
  TESSIQ_ASSIGN_OR_RETURN(CudaEventState * state, cuda_event(event));
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  TESSIQ_RETURN_IF_ERROR(check_cuda(api_, api_.cudaEventRecord(state->native, native), "cudaEventRecord"));
  state->recorded.store(true, std::memory_order_release);
  return {};
}

Result<void> CudaDevice::wait_event(Stream stream, Event event) {
  TESSIQ_ASSIGN_OR_RETURN(CudaEventState * state, cuda_event(event));
  TESSIQ_ASSIGN_OR_RETURN(cudaStream_t native, select_stream(stream));
  return check_cuda(api_, api_.cudaStreamWaitEvent(native, state->native, 0), "cudaStreamWaitEvent");
}

Result<bool> CudaDevice::event_is_done(Event event) {
  TESSIQ_ASSIGN_OR_RETURN(CudaEventState * state, cuda_event(event));
  TESSIQ_RETURN_IF_ERROR(select());
  return done(api_.cudaEventQuery(state->native), "cudaEventQuery");
}

Result<void> CudaDevice::synchronize_event(Event event) {
  TESSIQ_ASSIGN_OR_RETURN(CudaEventState * state, cuda_event(event));
  TESSIQ_RETURN_IF_ERROR(select());
  return check_cuda(api_, api_.cudaEventSynchronize(state->native), "cudaEventSynchronize");
}

Result<double> CudaDevice::elapsed_milliseconds(Event start, Event end) {
  TESSIQ_ASSIGN_OR_RETURN(const CudaEventState* first, cuda_event(start));
  TESSIQ_ASSIGN_OR_RETURN(const CudaEventState* last, cuda_event(end));
  if (first->timing == Timing::kNo || last->timing == Timing::kNo) {
    return invalid_argument("both events must be created with timing enabled to measure the time between them");
  }
  if (!first->recorded.load(std::memory_order_acquire) || !last->recorded.load(std::memory_order_acquire)) {
    return invalid_argument("both events must be recorded before the time between them is asked for");
  }
  TESSIQ_RETURN_IF_ERROR(select());
  float milliseconds = 0;
  TESSIQ_ASSIGN_OR_RETURN(const bool ready, done(api_.cudaEventElapsedTime(&milliseconds, first->native, last->native),
                                                 "cudaEventElapsedTime"));
  if (!ready) {
    return invalid_argument("both events must have passed before the time between them is asked for");
  }
  return static_cast<double>(milliseconds);
}

}  // namespace tessiq
