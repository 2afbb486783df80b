// Indices, the thread's current device and stream, and the process's own registry.
#include "runtime/registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/host/host_device.h"
#include "runtime/null/null_device.h"

namespace tessiq {
namespace {

DeviceRegistry two_devices() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<HostDevice>(DeviceIndex{0}));
  devices.push_back(std::make_unique<NullDevice>(DeviceIndex{1}));
  return DeviceRegistry(std::move(devices), "a note");
}

// Leaves the thread as it was found.
class Registry : public testing::Test {
 protected:
  void TearDown() override {
    set_current_device_unchecked(DeviceIndex{0});
    set_current_stream(Stream{DeviceIndex{0}, 0});
  }
};

TEST_F(Registry, GivesEachIndexItsDeviceAndItsOwnAllocator) {
  const DeviceRegistry registry = two_devices();
  EXPECT_EQ(registry.device_count(), 2);
  EXPECT_EQ((*registry.device(DeviceIndex{0}))->kind(), DeviceKind::kHost);
  EXPECT_EQ((*registry.device(DeviceIndex{1}))->kind(), DeviceKind::kNull);
  EXPECT_NE(*registry.allocator(DeviceIndex{0}), *registry.allocator(DeviceIndex{1}));
  EXPECT_EQ(registry.discovery_note(), "a note");
}

TEST_F(Registry, RefusesAnIndexThatDoesNotExistAndNamesIt) {
  const DeviceRegistry registry = two_devices();
  for (const int16_t index : {int16_t{-1}, int16_t{2}, int16_t{32767}}) {
    const Result<Device*> device = registry.device(DeviceIndex{index});
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(device.error().message(),
              "there is no device " + std::to_string(index) + "; this process has 2 devices (from index 0)");
    EXPECT_FALSE(registry.allocator(DeviceIndex{index}));
  }
}

TEST_F(Registry, OfTheProcessAlwaysHasTheReferenceDeviceFirst) {
  DeviceRegistry& registry = DeviceRegistry::instance();
  ASSERT_GE(registry.device_count(), 1);
  EXPECT_EQ((*registry.device(DeviceIndex{0}))->kind(), DeviceKind::kHost);
  EXPECT_EQ(registry.discovery_note().empty(), registry.device_count() > 1);
}

TEST_F(Registry, StartsEachThreadOnDeviceZeroAndItsDefaultStream) {
  set_current_device_unchecked(DeviceIndex{1});
  set_current_stream(Stream{DeviceIndex{1}, 9});
  std::thread([] {
    EXPECT_EQ(current_device(), DeviceIndex{0});
    EXPECT_EQ(current_stream(DeviceIndex{1}).id, 0);
    set_current_device_unchecked(DeviceIndex{3});
  }).join();
  EXPECT_EQ(current_device(), DeviceIndex{1});
  EXPECT_EQ(current_stream(DeviceIndex{1}).id, 9);
  set_current_stream(Stream{DeviceIndex{1}, 0});
}

TEST_F(Registry, DoesNotMakeADeviceCurrentThatDoesNotExist) {
  EXPECT_TRUE(set_current_device(DeviceIndex{0}).ok());
  EXPECT_EQ(set_current_device(DeviceIndex{1000}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(current_device(), DeviceIndex{0});
}

TEST_F(Registry, KeepsACurrentStreamPerDevice) {
  set_current_stream(Stream{DeviceIndex{0}, 4});
  EXPECT_EQ(current_stream(DeviceIndex{0}), (Stream{DeviceIndex{0}, 4}));
  EXPECT_EQ(current_stream(DeviceIndex{1}), (Stream{DeviceIndex{1}, 0}));
}

TEST_F(Registry, AnswersForAnIndexBeyondItsTableWithTheDefaultStream) {
  set_current_stream(Stream{DeviceIndex{30000}, 4});
  EXPECT_EQ(current_stream(DeviceIndex{30000}).id, 0);
  EXPECT_EQ(current_stream(DeviceIndex{-1}).id, 0);
}

TEST_F(Registry, AScopePutsTheDeviceBack) {
  {
    const ScopedDevice scope(DeviceIndex{1});
    EXPECT_EQ(current_device(), DeviceIndex{1});
  }
  EXPECT_EQ(current_device(), DeviceIndex{0});
}

}  // namespace
}  // namespace tessiq
