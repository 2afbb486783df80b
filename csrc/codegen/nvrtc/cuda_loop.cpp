#include "codegen/nvrtc/cuda_loop.h"

#include <array>
#include <utility>

#include "codegen/launch_check.h"
#include "cuda_api/cuda_error.h"
#include "support/int_math.h"

namespace tessiq::nvrtc {
namespace {

// More parameters than this do not fit the 4 KB a kernel is guaranteed.
constexpr size_t kMaxParameters = 511;

}  // namespace

LoadedCudaLoop::LoadedCudaLoop(CudaDevice& device, const CudaDriverApi& driver, const emit::LoopKernel& kernel,
                               std::vector<emit::KernelVariant> variants, std::shared_ptr<const CudaCode> code)
    : device_(device),
      driver_(driver),
      name_(kernel.name),
      choice_(kernel, std::move(variants)),
      code_(std::move(code)) {}

LaunchShape LoadedCudaLoop::shape(std::span<void* const> pointers, std::span<const int64_t> sizes,
                                  int64_t element_count) const {
  LaunchShape shape;
  shape.variant = choice_.choose(pointers, sizes);
  const emit::KernelVariant& variant = choice_.variants()[shape.variant];
  shape.entry = code_->entries[shape.variant];
  shape.threads = static_cast<unsigned>(variant.threads);
  shape.blocks = static_cast<unsigned>(ceil_div(element_count, int64_t{variant.threads} * variant.elements_per_thread));
  return shape;
}

Result<void> LoadedCudaLoop::launch(std::span<void* const> pointers, std::span<const int64_t> sizes,
                                    int64_t element_count, void* native_stream) {
  TESSIQ_RETURN_IF_ERROR(codegen::check_launch(name_, choice_.sizes(), pointers, sizes, element_count));
  if (element_count == 0) {
    return {};
  }
  const size_t parameter_count = pointers.size() + sizes.size() + 1;
  if (parameter_count > kMaxParameters) {
    return unsupported("loop " + name_ + " has " + std::to_string(parameter_count) + " parameters, a kernel takes " +
                       std::to_string(kMaxParameters));
  }
  const LaunchShape chosen = shape(pointers, sizes, element_count);
  // The driver wants addresses of the parameters, and reads them before it returns.
  std::array<void*, kMaxParameters> parameters;
  size_t used = 0;
  for (void* const& pointer : pointers) {
    parameters[used++] = const_cast<void**>(&pointer);
  }
  for (const int64_t& size : sizes) {
    parameters[used++] = const_cast<int64_t*>(&size);
  }
  parameters[used] = &element_count;
  TESSIQ_RETURN_IF_ERROR(device_.select());
  const CUresult status = driver_.cuLaunchKernel(chosen.entry, chosen.blocks, 1, 1, chosen.threads, 1, 1, 0,
                                                 static_cast<CUstream>(native_stream), parameters.data(), nullptr);
  if (status != CUDA_SUCCESS) {
    return cuda_error(driver_, status, "launch of loop " + name_);
  }
  codegen::kernel_counters().cuda_launches.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<std::vector<codegen::EntryFacts>> LoadedCudaLoop::facts() const {
  TESSIQ_RETURN_IF_ERROR(device_.select());
  std::vector<codegen::EntryFacts> facts;
  for (size_t k = 0; k < code_->entries.size(); ++k) {
    const emit::KernelVariant& variant = choice_.variants()[k];
    codegen::EntryFacts entry{.entry = variant.entry, .threads = variant.threads};
    const CUfunction function = code_->entries[k];
    const std::array<std::pair<CUfunction_attribute, int*>, 3> wanted = {{
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &entry.registers},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &entry.spilled_bytes},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &entry.shared_bytes},
    }};
    for (const auto& [attribute, target] : wanted) {
      TESSIQ_RETURN_IF_ERROR(
          check_cuda(driver_, driver_.cuFuncGetAttribute(target, attribute, function), "asking about a kernel"));
    }
    TESSIQ_RETURN_IF_ERROR(check_cuda(
        driver_,
        driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&entry.blocks_per_processor, function, variant.threads, 0),
        "asking about a kernel's occupancy"));
    facts.push_back(std::move(entry));
  }
  return facts;
}

}  // namespace tessiq::nvrtc
