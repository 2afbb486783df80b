#include "codegen/libraries/matmul.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <mutex>

#include "codegen/libraries/matmul_plan.h"
#include "codegen/libraries/matmul_problem.h"
#include "codegen/libraries/plan_cache.h"
#include "codegen/loaded_kernel.h"
#include "cuda_api/cuda_error.h"
#include "runtime/cuda/cuda_device.h"

namespace tessiq::libraries {
namespace {

using MatmulKey = PlanKey<28>;

void append(MatmulKey& key, size_t& used, const analysis::MatrixLayout& matrix) {
  for (const int64_t number :
       {matrix.rows, matrix.columns, matrix.leading, int64_t{matrix.transposed}, matrix.batch, matrix.batch_stride}) {
    key[used++] = number;
  }
}

// The part that describe_matmul_choice knows: the problem itself.
MatmulKey problem_key(Ordinal device, const MatmulProblem& problem) {
  MatmulKey key{};
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

MatmulKey with_call(MatmulKey key, const Alignments& alignments, const MatmulPointers& pointers, Bytes workspace) {
  key[23] = alignments.a;
  key[24] = alignments.b;
  key[25] = alignments.addend | (int64_t{alignments.output} << 16);
  key[26] = static_cast<int64_t>(workspace.value);
  // Reading the addend from the output is a form of its own to the library.
  key[27] = pointers.addend == pointers.output ? 1 : 2;
  return key;
}

using MatmulPlans = PlanCache<MatmulKey, std::shared_ptr<MatmulPlan>>;

// Neither is destroyed: at exit the driver may be gone before statics are.
MatmulPlans& plans() {
  static auto* cache = new MatmulPlans();
  return *cache;
}

// By the problem alone: what last ran for it.
MatmulPlans& latest_plans() {
  static auto* cache = new MatmulPlans();
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
  const MatmulKey key_of_problem = problem_key(device.ordinal(), problem);
  const MatmulKey key = with_call(key_of_problem, alignments, pointers, workspace.size);
  TESSIQ_RETURN_IF_ERROR(device.select());
  std::shared_ptr<MatmulPlan> plan = plans().find(key).value_or(nullptr);
  if (plan == nullptr) {
    TESSIQ_ASSIGN_OR_RETURN(const CublasLtApi* api, cublaslt_api());
    TESSIQ_ASSIGN_OR_RETURN(cublasLtHandle_t handle, handle_of(*api, device));
    TESSIQ_ASSIGN_OR_RETURN(plan, MatmulPlan::create(*api, handle, problem, alignments, pointers, workspace.size));
    plans().set(key, plan);
    latest_plans().set(key_of_problem, plan);
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
  const auto plan = latest_plans().find(problem_key(cuda_device->ordinal(), simplified(problem)));
  if (!plan) {
    return not_found("this matrix multiply has not run on this device");
  }
  return (*plan)->describe();
}

}  // namespace tessiq::libraries
