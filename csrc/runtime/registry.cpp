// The process's devices, and the thread's current device and streams.
#include "runtime/registry.h"

#include <array>
#include <utility>

#include "runtime/cuda/discovery.h"
#include "runtime/host/host_device.h"
#include "support/log.h"

namespace tessiq {
namespace {

// More than any host has; a fixed table because thread-local objects with destructors are gone when late frees run.
constexpr int kMaxDevices = 128;

// Plain numbers for the same reason. Stream 0 of each device is its default stream.
thread_local DeviceIndex thread_device{0};
thread_local std::array<int64_t, kMaxDevices> thread_streams{};

bool in_stream_table(DeviceIndex index) { return to_int(index) >= 0 && to_int(index) < kMaxDevices; }

DeviceRegistry* discover() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<HostDevice>(DeviceIndex{0}));
  CudaDiscovery found = discover_cuda_devices(DeviceIndex{1});
  for (auto& device : found.devices) {
    devices.push_back(std::move(device));
  }
  if (!found.note.empty()) {
    log_info("runtime", "no GPU: " + found.note);
  }
  return new DeviceRegistry(std::move(devices), std::move(found.note));
}

Error no_such_device(DeviceIndex index, int count) {
  return invalid_argument("there is no device " + std::to_string(to_int(index)) + "; this process has " +
                          std::to_string(count) + (count == 1 ? " device (index 0)" : " devices (from index 0)"));
}

}  // namespace

DeviceRegistry& DeviceRegistry::instance() {
  static DeviceRegistry* registry = discover();
  return *registry;
}

DeviceRegistry::DeviceRegistry(std::vector<std::unique_ptr<Device>> devices, std::string discovery_note)
    : devices_(std::move(devices)), discovery_note_(std::move(discovery_note)) {
  if (devices_.size() > kMaxDevices) {
    log_warning("runtime", "only the first " + std::to_string(kMaxDevices) + " devices are used");
    devices_.resize(kMaxDevices);
  }
  allocators_.reserve(devices_.size());
  for (const auto& device : devices_) {
    allocators_.push_back(std::make_unique<CachingAllocator>(*device));
  }
}

Result<Device*> DeviceRegistry::device(DeviceIndex index) const {
  if (to_int(index) < 0 || to_int(index) >= device_count()) {
    return no_such_device(index, device_count());
  }
  return devices_[static_cast<size_t>(to_int(index))].get();
}

Result<CachingAllocator*> DeviceRegistry::allocator(DeviceIndex index) const {
  TESSIQ_RETURN_IF_ERROR(device(index));
  return allocators_[static_cast<size_t>(to_int(index))].get();
}

DeviceIndex current_device() { return thread_device; }

Result<void> set_current_device(DeviceIndex index) {
  TESSIQ_RETURN_IF_ERROR(DeviceRegistry::instance().device(index));
  thread_device = index;
  return {};
}

void set_current_device_unchecked(DeviceIndex index) noexcept { thread_device = index; }

Stream current_stream(DeviceIndex device) {
  return Stream{device, in_stream_table(device) ? thread_streams[static_cast<size_t>(to_int(device))] : 0};
}

void set_current_stream(Stream stream) {
  if (in_stream_table(stream.device)) {
    thread_streams[static_cast<size_t>(to_int(stream.device))] = stream.id;
  }
}

}  // namespace tessiq
