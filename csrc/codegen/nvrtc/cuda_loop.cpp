#include "codegen/nvrtc/cuda_loop.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/launch_check.h"
#include "cuda_api/cuda_error.h"
#include "support/int_math.h"

namespace tessiq::nvrtc {
namespace {

// More parameters than this do not fit the 4 KB a kernel is guaranteed.
constexpr size_t kMaxParameters = 511;
// What a block leaves of a row it shares, for each reduction.
constexpr int64_t kPartialBytes = 16;
constexpr int kThreadsOfAProcessor = 2048;
// Blocks of columns for each processor: fewer parts are joined faster than the last of the bandwidth is worth. Where a
// block would have fewer passes than kColumnPasses, joining is what takes the time, and half as many do.
constexpr int64_t kColumnBlocks = 4;
constexpr int64_t kColumnPasses = 5;

// What reductions declare for their own exchange stays free.
constexpr int64_t kDeclaredShared = 2048;

}  // namespace

int64_t shared_limit(const DeviceProperties& properties) {
  return std::max<int64_t>(static_cast<int64_t>(properties.shared_memory.value) - kDeclaredShared, 0);
}

LoadedCudaLoop::LoadedCudaLoop(CudaDevice& device, const CudaDriverApi& driver, const emit::LoopKernel& kernel,
                               std::vector<emit::KernelVariant> variants, std::shared_ptr<const CudaCode> code,
                               const DeviceProperties& properties)
    : device_(device),
      driver_(driver),
      name_(kernel.name),
      reductions_(static_cast<int>(
          std::count_if(kernel.steps.begin(), kernel.steps.end(),
                        [](const emit::LoopStep& step) { return step.combine != optable::Combine::kNone; }))),
      processors_(properties.multiprocessor_count),
      choice_(kernel, std::move(variants), shared_limit(properties)),
      may_split_(std::any_of(choice_.variants().begin(), choice_.variants().end(),
                             [](const emit::KernelVariant& variant) { return variant.splits; })),
      code_(std::move(code)) {}

// As many as fill the processors, but no more than have a pass each.
unsigned LoadedCudaLoop::parts(const emit::KernelVariant& variant, int64_t blocks,
                               std::span<const int64_t> sizes) const {
  if (!variant.splits) {
    return 1;
  }
  const int64_t resident = variant.vectors_across_rows ? kColumnBlocks : kThreadsOfAProcessor / variant.threads;
  int64_t wanted = int64_t{processors_} * resident / std::max<int64_t>(blocks, 1);
  const int64_t passes = ceil_div(choice_.row_length(sizes), variant.elements_per_pass);
  if (variant.vectors_across_rows) {
    wanted = std::min(wanted, std::max(wanted / 2, passes / kColumnPasses));
  }
  return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(passes, 1)));
}

LaunchShape LoadedCudaLoop::shape(std::span<void* const> pointers, std::span<const int64_t> sizes,
                                  int64_t element_count) const {
  LaunchShape shape;
  shape.variant = choice_.choose(pointers, sizes);
  const emit::KernelVariant& variant = choice_.variants()[shape.variant];
  shape.entry = code_->entries[shape.variant];
  shape.threads = static_cast<unsigned>(variant.threads);
  const int64_t blocks = variant.tile > 0 ? choice_.tiles(variant, sizes)
                         : reductions_ > 0
                             ? ceil_div(choice_.rows(sizes), int64_t{variant.rows_per_block})
                             : ceil_div(element_count, int64_t{variant.threads} * variant.elements_per_thread);
  shape.blocks = static_cast<unsigned>(blocks);
  shape.parts = parts(variant, blocks, sizes);
  shape.shared_bytes = static_cast<unsigned>(choice_.shared_bytes(variant, sizes));
  return shape;
}

int64_t LoadedCudaLoop::workspace_bytes(std::span<void* const> pointers, std::span<const int64_t> sizes) const {
  if (!may_split_) {
    return 0;
  }
  const LaunchShape chosen = shape(pointers, sizes, 0);
  return chosen.parts < 2 ? 0 : kPartialBytes * reductions_ * choice_.rows(sizes) * chosen.parts;
}

Result<void> LoadedCudaLoop::queue(const LaunchShape& shape, std::span<void*> parameters, void* native_stream) const {
  const CUresult status =
      driver_.cuLaunchKernel(shape.entry, shape.blocks, shape.parts, 1, shape.threads, 1, 1, shape.shared_bytes,
                             static_cast<CUstream>(native_stream), parameters.data(), nullptr);
  if (status != CUDA_SUCCESS) {
    return cuda_error(driver_, status, "launch of loop " + name_);
  }
  codegen::kernel_counters().cuda_launches.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<void> LoadedCudaLoop::launch(std::span<void* const> pointers, std::span<const int64_t> sizes,
                                    int64_t element_count, void* workspace, void* native_stream) {
  TESSIQ_RETURN_IF_ERROR(codegen::check_launch(name_, choice_.sizes(), pointers, sizes, element_count));
  // Rows without elements have a result; no rows have none.
  if (reductions_ > 0 ? choice_.rows(sizes) == 0 : element_count == 0) {
    return {};
  }
  const std::vector<int>& divisors = choice_.sizes().divisors;
  const size_t parameter_count = pointers.size() + sizes.size() + divisors.size() + 3;
  if (parameter_count > kMaxParameters) {
    return unsupported("loop " + name_ + " has " + std::to_string(parameter_count) + " parameters, a kernel takes " +
                       std::to_string(kMaxParameters));
  }
  const LaunchShape chosen = shape(pointers, sizes, element_count);
  if (chosen.parts > 1 && workspace == nullptr) {
    return invalid_argument("launch of loop " + name_ + ": it needs a workspace and got none");
  }
  // The driver wants addresses of the parameters, and reads them before it returns.
  std::array<void*, kMaxParameters> parameters;
  size_t used = 0;
  for (void* const& pointer : pointers) {
    parameters[used++] = const_cast<void**>(&pointer);
  }
  for (const int64_t& size : sizes) {
    parameters[used++] = const_cast<int64_t*>(&size);
  }
  std::array<int64_t, kMaxParameters> multipliers;
  for (size_t k = 0; k < divisors.size(); ++k) {
    multipliers[k] = emit::multiplier_of(sizes[static_cast<size_t>(divisors[k])]);
    parameters[used++] = &multipliers[k];
  }
  parameters[used++] = &element_count;
  parameters[used++] = &workspace;
  auto parts = int64_t{chosen.parts};
  parameters[used] = &parts;
  TESSIQ_RETURN_IF_ERROR(device_.select());
  TESSIQ_RETURN_IF_ERROR(queue(chosen, parameters, native_stream));
  if (chosen.parts == 1) {
    return {};
  }
  const size_t last = choice_.final_variant();
  LaunchShape end;
  end.entry = code_->entries[last];
  end.threads = static_cast<unsigned>(choice_.variants()[last].threads);
  end.blocks = static_cast<unsigned>(ceil_div(choice_.rows(sizes), int64_t{choice_.variants()[last].rows_per_block}));
  return queue(end, parameters, native_stream);
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
