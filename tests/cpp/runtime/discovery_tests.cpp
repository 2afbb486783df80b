// Discovery: GPUs in driver order, or an empty list and the reason, whatever is missing.
#include "runtime/cuda/discovery.h"

#include <gtest/gtest.h>

#if TESSIQ_HAS_CUDA
#include "runtime/fake_cuda_runtime.h"

namespace tessiq {
namespace {

using testing_support::FakeCuda;

class Discovery : public testing::Test {
 protected:
  void SetUp() override { fake.reset(); }
  static CudaDiscovery discover() {
    return discover_cuda_devices(DeviceIndex{1}, Result<const CudaRuntimeApi*>(&FakeCuda::api()));
  }

  FakeCuda& fake = FakeCuda::instance();
};

TEST_F(Discovery, GivesEveryGpuInDriverOrderAndTouchesNone) {
  const CudaDiscovery found = discover();
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[0]->ordinal(), Ordinal{0});
  EXPECT_EQ(found.devices[1]->ordinal(), Ordinal{1});
  EXPECT_EQ(found.note, "");
  EXPECT_EQ(fake.count("cudaSetDevice"), 0);
}

TEST_F(Discovery, TheFirstGpuHasIndexOne) {
  const CudaDiscovery found = discover();
  EXPECT_TRUE(found.devices[0]->synchronize_stream(Stream{DeviceIndex{1}, 0}).ok());
  EXPECT_FALSE(found.devices[0]->synchronize_stream(Stream{DeviceIndex{0}, 0}).ok());
}

TEST_F(Discovery, WithoutADriverThereIsNoGpu) {
  fake.driver_version = 0;
  fake.fail_next("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  const CudaDiscovery found = discover();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.note, "no NVIDIA driver is installed");
  EXPECT_EQ(fake.last_error, cudaSuccess);
}

TEST_F(Discovery, AnOldDriverIsNamedWithBothVersions) {
  fake.driver_version = 12040;
  fake.fail_next("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  const CudaDiscovery found = discover();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.note,
            "the NVIDIA driver supports CUDA 12.4, and the runtime library is CUDA 13.0; a newer driver is needed");
}

TEST_F(Discovery, ADriverWithoutACardIsNoGpu) {
  fake.device_count = 0;
  EXPECT_EQ(discover().note, "the NVIDIA driver reports no GPU");
}

TEST_F(Discovery, AnyOtherFailureIsQuoted) {
  fake.fail_next("cudaGetDeviceCount", cudaErrorUnknown);
  const CudaDiscovery found = discover();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.note, "counting GPUs: cudaErrorFake: a fake failure");
}

TEST_F(Discovery, WithoutTheRuntimeLibraryThereIsNoGpu) {
  const CudaDiscovery found =
      discover_cuda_devices(DeviceIndex{1}, Result<const CudaRuntimeApi*>(not_found("no libcudart")));
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.note, "no libcudart");
}

}  // namespace
}  // namespace tessiq
#else
TEST(Discovery, ABuildWithoutCudaFindsNoGpuAndSaysSo) {
  const tessiq::CudaDiscovery found = tessiq::discover_cuda_devices(tessiq::DeviceIndex{1});
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.note, "tessiq was built without CUDA");
}
#endif
