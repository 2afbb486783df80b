// The tables against the real libraries: compiling needs no GPU; launching and multiplying run where there is one.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda_api/cuda_error.h"
#include "cuda_api/loaded_libraries.h"

namespace tessiq {
namespace {

constexpr const char* kScaleSource =
    "extern \"C\" __global__ void scale(float* x, float factor, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] *= factor;\n"
    "}\n";

class FunctionTable : public testing::Test {
 protected:
  static void SetUpTestSuite() { testing_support::register_wheel_libraries(); }

  // A cubin of `source`, or an empty string and `status`.
  static std::string compile(const NvrtcApi& api, const char* source, const char* arch, nvrtcResult& status) {
    nvrtcProgram program = nullptr;
    EXPECT_EQ(api.nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
    const char* options[] = {arch};
    status = api.nvrtcCompileProgram(program, 1, options);
    std::string cubin;
    if (status == NVRTC_SUCCESS) {
      size_t size = 0;
      EXPECT_EQ(api.nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
      cubin.resize(size);
      EXPECT_EQ(api.nvrtcGetCUBIN(program, cubin.data()), NVRTC_SUCCESS);
    }
    EXPECT_EQ(api.nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    return cubin;
  }
};

TEST_F(FunctionTable, OfNvrtcCompilesWithoutAGpu) {
  const auto api = nvrtc_api();
  if (!api) {
    GTEST_SKIP() << api.error().message();
  }
  nvrtcResult status = NVRTC_SUCCESS;
  EXPECT_GT(compile(**api, kScaleSource, "-arch=sm_90", status).size(), 0u);
  EXPECT_EQ(status, NVRTC_SUCCESS);
}

TEST_F(FunctionTable, OfNvrtcRefusesSourceThatIsWrong) {
  const auto api = nvrtc_api();
  if (!api) {
    GTEST_SKIP() << api.error().message();
  }
  nvrtcResult status = NVRTC_SUCCESS;
  EXPECT_EQ(compile(**api, "extern \"C\" __global__ void scale( {", "-arch=sm_90", status), "");
  EXPECT_EQ(status, NVRTC_ERROR_COMPILATION);
}

TEST_F(FunctionTable, OfTheDriverIsAnErrorAndNotACrashWithoutADriver) {
  const auto runtime = cuda_runtime_api();
  int version = 0;
  if (runtime.ok() && (*runtime)->cudaDriverGetVersion(&version) == cudaSuccess && version > 0) {
    GTEST_SKIP() << "this machine has a driver";
  }
  EXPECT_FALSE(cuda_driver_api());
}

// The runtime with the first GPU current, and its context made.
class GpuFunctionTable : public FunctionTable {
 protected:
  void SetUp() override {
    const auto found = cuda_runtime_api();
    int count = 0;
    if (!found || (*found)->cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no GPU";
    }
    runtime = *found;
    ASSERT_EQ(runtime->cudaSetDevice(0), cudaSuccess);
  }
  float* upload(const std::vector<float>& values) {
    void* memory = nullptr;
    EXPECT_EQ(runtime->cudaMalloc(&memory, values.size() * sizeof(float)), cudaSuccess);
    EXPECT_EQ(
        runtime->cudaMemcpyAsync(memory, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, nullptr),
        cudaSuccess);
    return static_cast<float*>(memory);
  }
  std::vector<float> download(const float* memory, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(runtime->cudaMemcpyAsync(values.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost, nullptr),
              cudaSuccess);
    EXPECT_EQ(runtime->cudaStreamSynchronize(nullptr), cudaSuccess);
    return values;
  }

  const CudaRuntimeApi* runtime = nullptr;
};

TEST_F(GpuFunctionTable, OfTheDriverLoadsAndLaunchesACompiledKernel) {
  const CudaDriverApi& driver = **cuda_driver_api();
  cudaDeviceProp properties{};
  ASSERT_EQ(runtime->cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const std::string arch = "-arch=sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  nvrtcResult status = NVRTC_SUCCESS;
  const std::string cubin = compile(**nvrtc_api(), kScaleSource, arch.c_str(), status);
  ASSERT_EQ(status, NVRTC_SUCCESS);

  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  ASSERT_TRUE(check_cuda(driver, driver.cuModuleLoadData(&module, cubin.data()), "cuModuleLoadData").ok());
  ASSERT_EQ(driver.cuModuleGetFunction(&kernel, module, "scale"), CUDA_SUCCESS);
  CUfunction nothing = nullptr;
  EXPECT_EQ(driver.cuModuleGetFunction(&nothing, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  int registers = 0;
  int blocks = 0;
  EXPECT_EQ(driver.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0), CUDA_SUCCESS);
  EXPECT_GT(registers, 0);
  EXPECT_GT(blocks, 0);

  float* memory = upload(std::vector<float>(1000, 3.0F));
  float factor = 2.0F;
  int count = 1000;
  void* arguments[] = {&memory, &factor, &count};
  ASSERT_EQ(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download(memory, 1000), std::vector<float>(1000, 6.0F));
  EXPECT_EQ(runtime->cudaFree(memory), cudaSuccess);
  EXPECT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(GpuFunctionTable, OfTheDriverNamesItsErrors) {
  const CudaDriverApi& driver = **cuda_driver_api();
  CUmodule module = nullptr;
  const Result<void> result = check_cuda(driver, driver.cuModuleLoadData(&module, "rubbish"), "loading a module");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kExternal);
  EXPECT_NE(result.error().message().find("CUDA_ERROR_"), std::string::npos) << result.error().message();
}

TEST_F(GpuFunctionTable, OfCublasLtMultiplies) {
  const auto found = cublaslt_api();
  ASSERT_TRUE(found.ok()) << found.error().message();
  const CublasLtApi& api = **found;
  constexpr int64_t kSize = 64;
  float* a = upload(std::vector<float>(kSize * kSize, 2.0F));
  float* b = upload(std::vector<float>(kSize * kSize, 3.0F));
  float* c = upload(std::vector<float>(kSize * kSize, 0.0F));

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  ASSERT_TRUE(check_cublaslt(api, api.cublasLtCreate(&handle), "cublasLtCreate").ok());
  ASSERT_EQ(api.cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(api.cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, kSize, kSize, kSize), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(api.cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulHeuristicResult_t choice{};
  int choices = 0;
  ASSERT_EQ(api.cublasLtMatmulAlgoGetHeuristic(handle, operation, layout, layout, layout, layout, preference, 1,
                                               &choice, &choices),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(choices, 1);
  const float one = 1.0F;
  const float zero = 0.0F;
  ASSERT_EQ(api.cublasLtMatmul(handle, operation, &one, a, layout, b, layout, &zero, c, layout, c, layout, &choice.algo,
                               nullptr, 0, nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download(c, kSize * kSize), std::vector<float>(kSize * kSize, 2.0F * 3.0F * kSize));

  EXPECT_EQ(api.cublasLtMatmulPreferenceDestroy(preference), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(api.cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(api.cublasLtMatmulDescDestroy(operation), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(api.cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  for (float* memory : {a, b, c}) {
    EXPECT_EQ(runtime->cudaFree(memory), cudaSuccess);
  }
}

}  // namespace
}  // namespace tessiq

#endif
