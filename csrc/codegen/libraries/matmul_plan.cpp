#include "codegen/libraries/matmul_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "cuda_api/cuda_error.h"

namespace tessiq::libraries {
namespace {

struct LibraryTypes {
  cudaDataType_t element;
  cudaDataType_t scale;
  cublasComputeType_t compute;
};

std::optional<LibraryTypes> library_types(const MatmulProblem& problem) {
  switch (problem.element) {
    case ir::ElementType::kFloat32:
      return LibraryTypes{CUDA_R_32F, CUDA_R_32F,
                          problem.allow_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case ir::ElementType::kFloat16:
      return LibraryTypes{CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case ir::ElementType::kBFloat16:
      return LibraryTypes{CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case ir::ElementType::kFloat64:
      return LibraryTypes{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    default:
      return std::nullopt;
  }
}

// Alpha or beta in the type the library scales in.
struct Scale {
  explicit Scale(double value, bool is_double) : wide(value), narrow(static_cast<float>(value)), is_wide(is_double) {}
  const void* pointer() const { return is_wide ? static_cast<const void*>(&wide) : &narrow; }
  double wide;
  float narrow;
  bool is_wide;
};

}  // namespace

uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const uintptr_t lowest = address == 0 ? 256 : address & (~address + 1);
  return static_cast<uint32_t>(std::min<uintptr_t>(lowest, 256));
}

MatmulPlan::~MatmulPlan() {
  for (cublasLtMatrixLayout_t layout : {left_, right_, addend_, output_}) {
    if (layout != nullptr) {
      api_.cublasLtMatrixLayoutDestroy(layout);
    }
  }
  if (operation_ != nullptr) {
    api_.cublasLtMatmulDescDestroy(operation_);
  }
}

Result<std::shared_ptr<MatmulPlan>> MatmulPlan::create(const CublasLtApi& api, cublasLtHandle_t handle,
                                                       const MatmulProblem& problem, const Alignments& alignments,
                                                       const MatmulPointers& pointers, Bytes workspace) {
  std::shared_ptr<MatmulPlan> plan(new MatmulPlan(api, handle, problem));
  TESSIQ_RETURN_IF_ERROR(plan->describe_operation(pointers));
  TESSIQ_RETURN_IF_ERROR(plan->describe_matrices());
  TESSIQ_RETURN_IF_ERROR(plan->choose(alignments, workspace));
  return plan;
}

Result<void> MatmulPlan::describe_operation(const MatmulPointers& pointers) {
  const auto types = library_types(problem_);
  if (!types) {
    return unsupported("matrix multiply of " + std::string(ir::element_type_name(problem_.element)) +
                       ": cuBLASLt has none that gives the same type");
  }
  TESSIQ_RETURN_IF_ERROR(check_cublaslt(api_, api_.cublasLtMatmulDescCreate(&operation_, types->compute, types->scale),
                                        "describing a matrix multiply"));
  auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return check_cublaslt(api_, api_.cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof(value)),
                          "describing a matrix multiply");
  };
  const cublasOperation_t left = problem_.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t right = problem_.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  TESSIQ_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, left));
  TESSIQ_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, right));
  if (problem_.addend != Addend::kRow) {
    return {};
  }
  // One element a row of what the library calls the output, which is a column of ours. The address has to be there for
  // the heuristic already, which looks at its alignment.
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
  TESSIQ_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  TESSIQ_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types->element));
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pointers.addend);
}

Result<void> MatmulPlan::describe_matrices() {
  const cudaDataType_t type = library_types(problem_)->element;
  const auto batch = static_cast<int32_t>(problem_.batch);
  // Column-major extents of what is stored; `leading` says nothing where there is one column.
  auto describe = [&](cublasLtMatrixLayout_t& layout, int64_t rows, int64_t columns, int64_t leading,
                      int64_t batch_stride) -> Result<void> {
    TESSIQ_RETURN_IF_ERROR(
        check_cublaslt(api_,
                       api_.cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows),
                                                       static_cast<uint64_t>(columns), std::max(leading, rows)),
                       "describing a matrix"));
    if (batch == 1) {
      return {};
    }
    TESSIQ_RETURN_IF_ERROR(check_cublaslt(
        api_, api_.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)),
        "describing a batch"));
    return check_cublaslt(api_,
                          api_.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                                &batch_stride, sizeof(batch_stride)),
                          "describing a batch");
  };
  auto operand = [&](cublasLtMatrixLayout_t& layout, const analysis::MatrixLayout& matrix) {
    const int64_t rows = matrix.transposed ? matrix.rows : matrix.columns;
    const int64_t columns = matrix.transposed ? matrix.columns : matrix.rows;
    return describe(layout, rows, columns, matrix.leading, matrix.batch == 1 ? 0 : matrix.batch_stride);
  };
  TESSIQ_RETURN_IF_ERROR(operand(left_, problem_.b));
  TESSIQ_RETURN_IF_ERROR(operand(right_, problem_.a));
  const bool has_matrix = problem_.addend == Addend::kMatrix;
  TESSIQ_RETURN_IF_ERROR(describe(addend_, problem_.n, problem_.m,
                                  has_matrix ? problem_.addend_leading : problem_.output_leading,
                                  has_matrix ? problem_.addend_batch_stride : problem_.output_batch_stride));
  return describe(output_, problem_.n, problem_.m, problem_.output_leading, problem_.output_batch_stride);
}

Result<void> MatmulPlan::choose(const Alignments& alignments, Bytes workspace) {
  cublasLtMatmulPreference_t preference = nullptr;
  TESSIQ_RETURN_IF_ERROR(
      check_cublaslt(api_, api_.cublasLtMatmulPreferenceCreate(&preference), "asking for an algorithm"));
  const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                        decltype(api_.cublasLtMatmulPreferenceDestroy)>
      owner(preference, api_.cublasLtMatmulPreferenceDestroy);
  const uint64_t bytes = workspace.value;
  TESSIQ_RETURN_IF_ERROR(
      check_cublaslt(api_,
                     api_.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                               &bytes, sizeof(bytes)),
                     "asking for an algorithm"));
  const std::array<std::pair<cublasLtMatmulPreferenceAttributes_t, uint32_t>, 4> promised = {{
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.b},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.a},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.addend},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.output},
  }};
  for (const auto& [attribute, alignment] : promised) {
    TESSIQ_RETURN_IF_ERROR(check_cublaslt(
        api_, api_.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof(alignment)),
        "asking for an algorithm"));
  }
  int found = 0;
  const cublasStatus_t status = api_.cublasLtMatmulAlgoGetHeuristic(handle_, operation_, left_, right_, addend_,
                                                                    output_, preference, 1, &choice_, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    return unsupported("matrix multiply of " + std::to_string(problem_.m) + " x " + std::to_string(problem_.k) +
                       " by " + std::to_string(problem_.n) + ": cuBLASLt has no algorithm for it");
  }
  return check_cublaslt(api_, status, "asking for an algorithm");
}

Result<void> MatmulPlan::run(const MatmulPointers& pointers, Workspace workspace, cudaStream_t stream) {
  const bool wide = problem_.element == ir::ElementType::kFloat64;
  const Scale alpha(problem_.alpha, wide);
  const Scale beta(problem_.addend == Addend::kMatrix ? problem_.beta : 0.0, wide);
  const void* addend = problem_.addend == Addend::kMatrix ? pointers.addend : pointers.output;
  auto call = [&] {
    return check_cublaslt(api_,
                          api_.cublasLtMatmul(handle_, operation_, alpha.pointer(), pointers.b, left_, pointers.a,
                                              right_, beta.pointer(), addend, addend_, pointers.output, output_,
                                              &choice_.algo, workspace.pointer, choice_.workspaceSize, stream),
                          "matrix multiply of " + std::to_string(problem_.m) + " x " + std::to_string(problem_.k) +
                              " by " + std::to_string(problem_.n));
  };
  if (problem_.addend != Addend::kRow) {
    return call();
  }
  const std::lock_guard lock(mutex_);
  TESSIQ_RETURN_IF_ERROR(
      check_cublaslt(api_,
                     api_.cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                         &pointers.addend, sizeof(pointers.addend)),
                     "describing a matrix multiply"));
  return call();
}

std::string MatmulPlan::describe() const {
  auto setting = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
    int32_t value = -1;
    size_t written = 0;
    api_.cublasLtMatmulAlgoConfigGetAttribute(&choice_.algo, attribute, &value, sizeof(value), &written);
    return std::to_string(value);
  };
  return "cuBLASLt " + std::to_string(api_.cublasLtGetVersion()) + ": algorithm " + setting(CUBLASLT_ALGO_CONFIG_ID) +
         ", tile " + setting(CUBLASLT_ALGO_CONFIG_TILE_ID) + ", stages " + setting(CUBLASLT_ALGO_CONFIG_STAGES_ID) +
         ", workspace " + std::to_string(choice_.workspaceSize) + " bytes, " + std::to_string(choice_.wavesCount) +
         " waves";
}

}  // namespace tessiq::libraries
