// Discovery on first use, and the check that a forked child does not touch a GPU.
#include "pytorch/device/identity.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>

#include "pytorch/device/raise.h"

namespace tessiq::pytorch {
namespace {

std::atomic<bool> gpu_runtime_started{false};
std::atomic<bool> forked_after_start{false};

}  // namespace

DeviceRegistry& registry() {
  static DeviceRegistry* found = [] {
    DeviceRegistry* instance = &DeviceRegistry::instance();
    // Counting the GPUs already starts the driver, and a started driver does not survive a fork.
    gpu_runtime_started = instance->device_count() > 1;
    pthread_atfork(nullptr, nullptr, [] { forked_after_start = gpu_runtime_started.load(); });
    return instance;
  }();
  return *found;
}

bool in_bad_fork() { return forked_after_start; }

DeviceIndex resolve(c10::Device device) {
  TORCH_CHECK(device.type() == kTessiq, "expected a tessiq device, got ", device);
  return resolve(device.index());
}

DeviceIndex resolve(std::optional<c10::Device> device) { return device ? resolve(*device) : current_device(); }

c10::Device to_cuda(DeviceIndex index) {
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(to_int(device_at(index).ordinal())));
}

c10::Stream to_cuda(Stream stream) {
  const auto handle = reinterpret_cast<int64_t>(value_or_raise(device_at(stream.device).native_stream(stream)));
  // PyTorch takes the handle of a stream it did not create as the stream's id, and 0 for the legacy default stream.
  return c10::Stream(c10::Stream::UNSAFE, to_cuda(stream.device), stream.id == 0 ? 0 : handle);
}

Device& device_at(DeviceIndex index) {
  Device* device = value_or_raise(registry().device(index));
  TORCH_CHECK(!in_bad_fork() || device->kind() != DeviceKind::kCuda, "tessiq:", to_int(index),
              " cannot be used in a forked subprocess after its parent started CUDA; start subprocesses with the "
              "'spawn' method, or use the reference device tessiq:0");
  return *device;
}

CachingAllocator& caching_allocator_at(DeviceIndex index) {
  device_at(index);
  return *value_or_raise(registry().allocator(index));
}

}  // namespace tessiq::pytorch
