// Statuses of the real libraries as errors. Needs the libraries and no GPU.
#if TESSIQ_HAS_CUDA

#include "cuda_api/cuda_error.h"

#include <gtest/gtest.h>

#include "cuda_api/loaded_libraries.h"

namespace tessiq {
namespace {

#define TESSIQ_SKIP_WITHOUT(api)             \
  if (!(api)) {                              \
    GTEST_SKIP() << (api).error().message(); \
  }

class CudaError : public testing::Test {
 protected:
  static void SetUpTestSuite() { testing_support::register_wheel_libraries(); }
};

TEST_F(CudaError, OutOfMemoryIsExhaustedAndHasNameAndMessage) {
  const auto api = cuda_runtime_api();
  TESSIQ_SKIP_WITHOUT(api);
  const Result<void> result = check_cuda(**api, cudaErrorMemoryAllocation, "cudaMalloc of 8 bytes");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(result.error().message(), "cudaMalloc of 8 bytes: cudaErrorMemoryAllocation: out of memory");
}

TEST_F(CudaError, AnyOtherStatusIsExternal) {
  const auto api = cuda_runtime_api();
  TESSIQ_SKIP_WITHOUT(api);
  const Result<void> result = check_cuda(**api, cudaErrorInvalidValue, "cudaMemcpyAsync");
  EXPECT_EQ(result.error().code(), ErrorCode::kExternal);
  EXPECT_EQ(result.error().message(), "cudaMemcpyAsync: cudaErrorInvalidValue: invalid argument");
}

TEST_F(CudaError, SuccessIsNoError) {
  const auto api = cuda_runtime_api();
  TESSIQ_SKIP_WITHOUT(api);
  EXPECT_TRUE(check_cuda(**api, cudaSuccess, "anything").ok());
}

TEST_F(CudaError, AStatusThatTheLibraryDoesNotKnowStillHasAText) {
  const auto api = cuda_runtime_api();
  TESSIQ_SKIP_WITHOUT(api);
  const Result<void> result = check_cuda(**api, static_cast<cudaError_t>(9000), "a call");
  EXPECT_EQ(result.error().code(), ErrorCode::kExternal);
  EXPECT_GT(result.error().message().size(), std::string("a call: ").size());
}

TEST_F(CudaError, NvrtcStatusesAreNamed) {
  const auto api = nvrtc_api();
  TESSIQ_SKIP_WITHOUT(api);
  EXPECT_NE(check_nvrtc(**api, NVRTC_ERROR_COMPILATION, "compiling").error().message().find("NVRTC_ERROR_COMPILATION"),
            std::string::npos);
  EXPECT_EQ(check_nvrtc(**api, NVRTC_ERROR_OUT_OF_MEMORY, "compiling").error().code(), ErrorCode::kResourceExhausted);
}

TEST_F(CudaError, CublasLtStatusesAreNamed) {
  const auto api = cublaslt_api();
  TESSIQ_SKIP_WITHOUT(api);
  EXPECT_NE(check_cublaslt(**api, CUBLAS_STATUS_NOT_SUPPORTED, "matmul")
                .error()
                .message()
                .find("CUBLAS_STATUS_NOT_SUPPORTED"),
            std::string::npos);
  EXPECT_EQ(check_cublaslt(**api, CUBLAS_STATUS_ALLOC_FAILED, "matmul").error().code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace tessiq

#endif
