// A child forked after CUDA was started is refused with a sentence, and can still free and exit.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/discovery.h"
#include "runtime/fake_cuda_runtime.h"
#include "runtime/host/host_device.h"

namespace tessiq {
namespace {

using testing_support::FakeCuda;

constexpr Stream kDefault{DeviceIndex{1}, 0};

// Whether `check` held in a forked child.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    fake.reset();
    memory = *device.allocate(Bytes{512});
    event = *device.create_event(Timing::kYes);
  }
  void TearDown() override {
    device.destroy_event(event);
    device.deallocate(memory, Bytes{512});
  }

  FakeCuda& fake = FakeCuda::instance();
  CudaDevice device{FakeCuda::api(), DeviceIndex{1}, Ordinal{0}};
  void* memory = nullptr;
  Event event;
};

TEST_F(Fork, TheChildIsToldToSpawnInstead) {
  EXPECT_TRUE(holds_in_child([&] {
    const Result<void*> result = device.allocate(Bytes{512});
    return !result && result.error().code() == ErrorCode::kExternal &&
           result.error().message().find("forked") != std::string::npos &&
           result.error().message().find("spawn") != std::string::npos;
  }));
}

TEST_F(Fork, TheChildReachesTheDriverThroughNoCall) {
  EXPECT_TRUE(holds_in_child([&] {
    fake.calls.clear();
    char byte = 0;
    const bool refused = !device.copy_to_host(&byte, memory, Bytes{1}, kDefault, Blocking::kYes) &&
                         !device.synchronize() && !device.record_event(event, kDefault) && !device.memory_info().ok() &&
                         !device.allocate_pinned(Bytes{1}).ok() && !device.properties().ok();
    device.deallocate(memory, Bytes{512});
    device.destroy_event(event);
    return refused && fake.calls.empty();
  }));
}

TEST_F(Fork, TheChildDiscoversNoGpuAndSaysWhy) {
  EXPECT_TRUE(holds_in_child([] {
    const CudaDiscovery found = discover_cuda_devices(DeviceIndex{1});
    return found.devices.empty() && found.note.find("forked") != std::string::npos;
  }));
}

TEST_F(Fork, TheChildStillHasTheReferenceDevice) {
  EXPECT_TRUE(holds_in_child([] {
    HostDevice host;
    const Result<void*> block = host.allocate(Bytes{512});
    return block.ok() && host.fill_bytes(*block, 1, Bytes{512}, Stream{}).ok();
  }));
}

TEST_F(Fork, TheParentGoesOn) {
  EXPECT_TRUE(holds_in_child([] { return true; }));
  EXPECT_TRUE(device.synchronize_stream(kDefault).ok());
}

}  // namespace
}  // namespace tessiq

#endif
