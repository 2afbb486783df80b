// The table of fake_cuda_runtime.h.
#include "runtime/fake_cuda_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/device.h"

namespace tessiq::testing_support {
namespace {

struct FakeEvent {
  cudaStream_t stream = nullptr;
};

FakeCuda& fake() { return FakeCuda::instance(); }

// A body that runs only where the call was not made to fail.
template <typename Body>
cudaError_t call(const char* name, Body body) {
  const cudaError_t status = fake().enter(name);
  return status == cudaSuccess ? body() : status;
}

cudaError_t query(cudaStream_t stream) {
  if (fake().busy.count(stream) == 0) {
    return cudaSuccess;
  }
  fake().last_error = cudaErrorNotReady;
  return cudaErrorNotReady;
}

cudaError_t allocate(void** pointer, size_t size) {
  void* memory = size > size_t{1} << 40 ? nullptr : std::aligned_alloc(kDeviceAlignment, (size + 511) / 512 * 512);
  if (memory == nullptr) {
    fake().last_error = cudaErrorMemoryAllocation;
    return cudaErrorMemoryAllocation;
  }
  ++fake().live_allocations;
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  --fake().live_allocations;
  std::free(pointer);
  return cudaSuccess;
}

void fill_memory(CudaRuntimeApi& table) {
  table.cudaMalloc = [](void** pointer, size_t size) {
    return call("cudaMalloc", [&] { return allocate(pointer, size); });
  };
  table.cudaFree = [](void* pointer) { return call("cudaFree", [&] { return release(pointer); }); };
  table.cudaHostAlloc = [](void** pointer, size_t size, unsigned flags) {
    fake().host_alloc_flags = flags;
    return call("cudaHostAlloc", [&] { return allocate(pointer, size); });
  };
  table.cudaFreeHost = [](void* pointer) { return call("cudaFreeHost", [&] { return release(pointer); }); };
  table.cudaMemcpyAsync = [](void* target, const void* source, size_t size, cudaMemcpyKind, cudaStream_t) {
    return call("cudaMemcpyAsync", [&] {
      std::memmove(target, source, size);
      return cudaSuccess;
    });
  };
  table.cudaMemsetAsync = [](void* target, int value, size_t size, cudaStream_t) {
    return call("cudaMemsetAsync", [&] {
      std::memset(target, value, size);
      return cudaSuccess;
    });
  };
  table.cudaMemGetInfo = [](size_t* free, size_t* total) {
    return call("cudaMemGetInfo", [&] {
      *free = 1000;
      *total = 4000;
      return cudaSuccess;
    });
  };
}

void fill_devices(CudaRuntimeApi& table) {
  table.cudaSetDevice = [](int device) {
    return call("cudaSetDevice", [&] {
      fake().current_device = device;
      return cudaSuccess;
    });
  };
  table.cudaGetDeviceCount = [](int* count) {
    return call("cudaGetDeviceCount", [&] {
      *count = fake().device_count;
      return cudaSuccess;
    });
  };
  table.cudaDriverGetVersion = [](int* version) {
    *version = fake().driver_version;
    return cudaSuccess;
  };
  table.cudaRuntimeGetVersion = [](int* version) {
    *version = 13000;
    return cudaSuccess;
  };
  table.cudaGetDeviceProperties = [](cudaDeviceProp* found, int device) {
    return call("cudaGetDeviceProperties", [&] {
      std::snprintf(found->name, sizeof(found->name), "Fake GPU %d", device);
      found->totalGlobalMem = 4000;
      found->major = 9;
      found->minor = 0;
      found->multiProcessorCount = 132;
      found->l2CacheSize = 50;
      return cudaSuccess;
    });
  };
  table.cudaDeviceSynchronize = [] { return call("cudaDeviceSynchronize", [] { return cudaSuccess; }); };
  table.cudaDeviceCanAccessPeer = [](int* can, int, int) {
    *can = fake().peers ? 1 : 0;
    return call("cudaDeviceCanAccessPeer", [] { return cudaSuccess; });
  };
  table.cudaDeviceEnablePeerAccess = [](int, unsigned) {
    return call("cudaDeviceEnablePeerAccess", [] { return cudaSuccess; });
  };
}

void fill_streams(CudaRuntimeApi& table) {
  table.cudaDeviceGetStreamPriorityRange = [](int* least, int* greatest) {
    return call("cudaDeviceGetStreamPriorityRange", [&] {
      *least = 0;
      *greatest = -2;
      return cudaSuccess;
    });
  };
  table.cudaStreamCreateWithPriority = [](cudaStream_t* stream, unsigned flags, int priority) {
    return call("cudaStreamCreateWithPriority", [&] {
      *stream = reinterpret_cast<cudaStream_t>(fake().next_stream++);
      fake().stream_flags.push_back(flags);
      fake().stream_priorities.push_back(priority);
      return cudaSuccess;
    });
  };
  table.cudaStreamQuery = [](cudaStream_t stream) { return call("cudaStreamQuery", [&] { return query(stream); }); };
  table.cudaStreamSynchronize = [](cudaStream_t stream) {
    return call("cudaStreamSynchronize", [&] {
      fake().busy.erase(stream);
      return cudaSuccess;
    });
  };
  table.cudaStreamWaitEvent = [](cudaStream_t, cudaEvent_t, unsigned) {
    return call("cudaStreamWaitEvent", [] { return cudaSuccess; });
  };
}

FakeEvent* as_fake(cudaEvent_t event) { return reinterpret_cast<FakeEvent*>(event); }

void fill_events(CudaRuntimeApi& table) {
  table.cudaEventCreateWithFlags = [](cudaEvent_t* event, unsigned) {
    return call("cudaEventCreateWithFlags", [&] {
      *event = reinterpret_cast<cudaEvent_t>(new FakeEvent);
      ++fake().live_events;
      return cudaSuccess;
    });
  };
  table.cudaEventDestroy = [](cudaEvent_t event) {
    delete as_fake(event);
    --fake().live_events;
    return call("cudaEventDestroy", [] { return cudaSuccess; });
  };
  table.cudaEventRecord = [](cudaEvent_t event, cudaStream_t stream) {
    return call("cudaEventRecord", [&] {
      as_fake(event)->stream = stream;
      return cudaSuccess;
    });
  };
  table.cudaEventQuery = [](cudaEvent_t event) {
    return call("cudaEventQuery", [&] { return query(as_fake(event)->stream); });
  };
  table.cudaEventSynchronize = [](cudaEvent_t event) {
    return call("cudaEventSynchronize", [&] {
      fake().busy.erase(as_fake(event)->stream);
      return cudaSuccess;
    });
  };
  table.cudaEventElapsedTime = [](float* milliseconds, cudaEvent_t, cudaEvent_t end) {
    *milliseconds = 1.5F;
    return call("cudaEventElapsedTime", [&] { return query(as_fake(end)->stream); });
  };
}

void fill_errors(CudaRuntimeApi& table) {
  table.cudaGetLastError = [] {
    const cudaError_t status = fake().last_error;
    fake().last_error = cudaSuccess;
    return status;
  };
  table.cudaGetErrorName = [](cudaError_t status) {
    return status == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorFake";
  };
  table.cudaGetErrorString = [](cudaError_t status) {
    return status == cudaErrorMemoryAllocation ? "out of memory" : "a fake failure";
  };
}

}  // namespace

FakeCuda& FakeCuda::instance() {
  static auto* state = new FakeCuda;
  return *state;
}

const CudaRuntimeApi& FakeCuda::api() {
  // Functions that are not filled in stay null: calling one is a crash, and so a failed test.
  static const CudaRuntimeApi table = [] {
    CudaRuntimeApi filled;
    fill_memory(filled);
    fill_devices(filled);
    fill_streams(filled);
    fill_events(filled);
    fill_errors(filled);
    return filled;
  }();
  return table;
}

cudaError_t FakeCuda::enter(const char* name) {
  calls.push_back({name, current_device});
  const auto found = failures.find(name);
  if (found == failures.end()) {
    return cudaSuccess;
  }
  last_error = found->second;
  failures.erase(found);
  return last_error;
}

int FakeCuda::count(const std::string& name) const {
  return static_cast<int>(
      std::count_if(calls.begin(), calls.end(), [&](const FakeCudaCall& made) { return made.name == name; }));
}

}  // namespace tessiq::testing_support
