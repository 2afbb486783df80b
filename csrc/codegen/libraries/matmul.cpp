#include "codegen/libraries/matmul.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/libraries/matmul_plan.h"
#include "codegen/libraries/matmul_problem.h"
#include "codegen/loaded_kernel.h"
#include "cuda_api/cuda_error.h"
#include "runtime/cuda/cuda_device.h"

namespace tessiq::libraries {
namespace {

// Everything a plan depends on, as numbers.
using PlanKey = std::array<int64_t, 28>;

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const { return XXH3_64bits(key.data(), sizeof(key)); }
};

void append(PlanKey& key, size_t& used, const analysis::MatrixLayout& matrix) {
  for (const int64_t number :
       {matrix.rows, matrix.columns, matrix.leading, int64_t{matrix.transposed}, matrix.batch, matrix.batch_stride}) {
    key[used++] = number;
  }
}

// The part that describe_matmul_choice knows: the problem itself.
PlanKey problem_key(Ordinal device, const MatmulProblem& problem) {
  PlanKey key{};
  size_t used = 0;
  append(key, used, problem.a);
  append(key, used, problem.b);
  for (const int64_t number :
       {problem.batch, problem.output_leading, problem.output_batch_stride, static_cast<int64_t>(problem.element),
        std::bit_cast<int64_t>(problem.alpha), std::bit_cast<int64_t>(problem.beta),
        static_cast<int64_t>(problem.addend), problem.addend_leading, problem.addend_batch_stride,
        int64_t{problem.allow_tf32}, int64_t{to_int(device)}}) {
    key[used++] = number;
  }
  return key;
}

PlanKey with_call(PlanKey key, const Alignments& alignments, const MatmulPointers& pointers, Bytes workspace) {
  key[23] = alignments.a;
  key[24] = alignments.b;
  key[25] = alignments.addend | (int64_t{alignments.output} << 16);
  key[26] = static_cast<int64_t>(workspace.value);
  // Reading the addend from the output is a form of its own to the library.
  key[27] = pointers.addend == pointers.output ? 1 : 2;
  return key;
}

// Bounded: a model with changing sizes makes a new problem every call, and a lost plan costs one heuristic.
class PlanCache {
 public:
  std::shared_ptr<MatmulPlan> find(const PlanKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : found->second;
  }
  void add(const PlanKey& key, const PlanKey& problem, std::shared_ptr<MatmulPlan> plan) {
    const std::lock_guard lock(mutex_);
    latest_[problem] = plan;
    if (!plans_.emplace(key, std::move(plan)).second) {
      return;
    }
    order_.emplace_back(key, problem);
    if (order_.size() > kMostPlans) {
      plans_.erase(order_.front().first);
      latest_.erase(order_.front().second);
      order_.pop_front();
    }
  }
  std::shared_ptr<MatmulPlan> latest(const PlanKey& problem) {
    const std::lock_guard lock(mutex_);
    const auto found = latest_.find(problem);
    return found == latest_.end() ? nullptr : found->second;
  }

 private:
  static constexpr size_t kMostPlans = 4096;
  std::mutex mutex_;
  std::unordered_map<PlanKey, std::shared_ptr<MatmulPlan>, PlanKeyHash> plans_;
  std::unordered_map<PlanKey, std::shared_ptr<MatmulPlan>, PlanKeyHash> latest_;
  std::deque<std::pair<PlanKey, PlanKey>> order_;
};

// Neither is destroyed: at exit the driver may be gone before statics are.
PlanCache& plans() {
  static auto* cache = new PlanCache();
  return *cache;
}

Result<cublasLtHandle_t> handle_of(const CublasLtApi& api, CudaDevice& device) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, cublasLtHandle_t>();
  const std::lock_guard lock(mutex);
  const auto found = handles->find(to_int(device.ordinal()));
  if (found != handles->end()) {
    return found->second;
  }
  cublasLtHandle_t handle = nullptr;
  TESSIQ_RETURN_IF_ERROR(check_cublaslt(api, api.cublasLtCreate(&handle), "creating a cuBLASLt handle"));
  handles->emplace(to_int(device.ordinal()), handle);
  return handle;
}

Result<CudaDevice*> gpu(Device& device) {
  if (device.kind() != DeviceKind::kCuda) {
    return unsupported("matrix multiply through cuBLASLt: the device is no GPU");
  }
  return static_cast<CudaDevice*>(&device);
}

Result<void> run(CudaDevice& device, const MatmulProblem& problem, const MatmulPointers& pointers, Workspace workspace,
                 void* native_stream) {
  const Alignments alignments{alignment_of(pointers.a), alignment_of(pointers.b),
                              alignment_of(problem.addend == Addend::kNone ? pointers.output : pointers.addend),
                              alignment_of(pointers.output)};
  const PlanKey key_of_problem = problem_key(device.ordinal(), problem);
  const PlanKey key = with_call(key_of_problem, alignments, pointers, workspace.size);
  TESSIQ_RETURN_IF_ERROR(device.select());
  std::shared_ptr<MatmulPlan> plan = plans().find(key);
  if (plan == nullptr) {
    TESSIQ_ASSIGN_OR_RETURN(const CublasLtApi* api, cublaslt_api());
    TESSIQ_ASSIGN_OR_RETURN(cublasLtHandle_t handle, handle_of(*api, device));
    TESSIQ_ASSIGN_OR_RETURN(plan, MatmulPlan::create(*api, handle, problem, alignments, pointers, workspace.size));
    plans().add(key, key_of_problem, plan);
  }
  TESSIQ_RETURN_IF_ERROR(plan->run(pointers, workspace, static_cast<cudaStream_t>(native_stream)));
  codegen::kernel_counters().library_calls.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// k = 0: the sum over nothing is 0, and what is left is the addend.
Result<void> run_without_inner_extent(CudaDevice& device, const MatmulProblem& problem, MatmulPointers pointers,
                                      Workspace workspace, void* native_stream) {
  TESSIQ_ASSIGN_OR_RETURN(const CudaRuntimeApi* api, cuda_runtime_api());
  TESSIQ_RETURN_IF_ERROR(device.select());
  const auto stream = static_cast<cudaStream_t>(native_stream);
  const auto element = static_cast<size_t>(ir::element_size(problem.element));
  const bool packed = problem.output_leading == problem.n &&
                      (problem.batch == 1 || problem.output_batch_stride == problem.m * problem.n);
  if (problem.addend == Addend::kNone && packed) {
    const size_t bytes = static_cast<size_t>(problem.batch * problem.m * problem.n) * element;
    return check_cuda(*api, api->cudaMemsetAsync(pointers.output, 0, bytes, stream), "zeroing a product");
  }
  const size_t zeros = static_cast<size_t>(std::max(problem.m, problem.n)) * element;
  if (workspace.size.value < zeros) {
    return unsupported("matrix multiply over an inner extent of 0 needs a workspace of " + std::to_string(zeros) +
                       " bytes");
  }
  TESSIQ_RETURN_IF_ERROR(
      check_cuda(*api, api->cudaMemsetAsync(workspace.pointer, 0, zeros, stream), "zeroing a workspace"));
  pointers.a = workspace.pointer;
  pointers.b = workspace.pointer;
  return run(device, without_inner_extent(problem), pointers, {}, native_stream);
}

}  // namespace

Result<Bytes> recommended_matmul_workspace(Device& device) {
  TESSIQ_ASSIGN_OR_RETURN(CudaDevice * cuda_device, gpu(device));
  TESSIQ_ASSIGN_OR_RETURN(const DeviceProperties properties, cuda_device->properties());
  // NVIDIA's advice for Hopper and later; earlier cards' algorithms ask for less.
  return Bytes{(properties.compute_major >= 9 ? size_t{32} : size_t{8}) << 20};
}

Result<void> matmul(Device& device, const MatmulProblem& problem, const MatmulPointers& pointers, Workspace workspace,
                    void* native_stream) {
  TESSIQ_ASSIGN_OR_RETURN(CudaDevice * cuda_device, gpu(device));
  TESSIQ_RETURN_IF_ERROR(check_problem(problem));
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) {
    return {};
  }
  const MatmulProblem simple = simplified(problem);
  if (simple.k == 0) {
    return run_without_inner_extent(*cuda_device, simple, pointers, workspace, native_stream);
  }
  return run(*cuda_device, simple, pointers, workspace, native_stream);
}

Result<std::string> describe_matmul_choice(Device& device, const MatmulProblem& problem) {
  TESSIQ_ASSIGN_OR_RETURN(CudaDevice * cuda_device, gpu(device));
  const std::shared_ptr<MatmulPlan> plan = plans().latest(problem_key(cuda_device->ordinal(), simplified(problem)));
  if (plan == nullptr) {
    return not_found("this matrix multiply has not run on this device");
  }
  return plan->describe();
}

}  // namespace tessiq::libraries
