#include "codegen/libraries/matmul_problem.h"

#include <algorithm>

namespace tessiq::libraries {
namespace {

Error mismatch(const std::string& what) { return invalid_argument("matrix multiply: " + what); }

std::string shape_text(const analysis::MatrixLayout& matrix) {
  return std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) +
         (matrix.batch == 1 ? "" : " (batch " + std::to_string(matrix.batch) + ")");
}

}  // namespace

Result<MatmulProblem> matmul_problem(const analysis::MatrixLayout& a, const analysis::MatrixLayout& b,
                                     ir::ElementType element) {
  const bool batches_fit = a.batch == b.batch || a.batch == 1 || b.batch == 1;
  if (a.columns != b.rows || !batches_fit) {
    return mismatch("operands of " + shape_text(a) + " and " + shape_text(b) + " do not fit");
  }
  MatmulProblem problem;
  problem.m = a.rows;
  problem.n = b.columns;
  problem.k = a.columns;
  problem.batch = a.batch == 1 ? b.batch : a.batch;
  problem.a = a;
  problem.b = b;
  problem.output_leading = std::max<int64_t>(problem.n, 1);
  problem.output_batch_stride = problem.m * problem.n;
  problem.element = element;
  return problem;
}

Result<void> check_problem(const MatmulProblem& problem) {
  if (problem.m < 0 || problem.n < 0 || problem.k < 0 || problem.batch < 0) {
    return mismatch("an extent is negative");
  }
  const bool a_fits = problem.a.rows == problem.m && problem.a.columns == problem.k;
  const bool b_fits = problem.b.rows == problem.k && problem.b.columns == problem.n;
  if (!a_fits || !b_fits) {
    return mismatch("operands of " + shape_text(problem.a) + " and " + shape_text(problem.b) + " are no product of " +
                    std::to_string(problem.m) + " x " + std::to_string(problem.k) + " by " + std::to_string(problem.n));
  }
  for (const analysis::MatrixLayout* operand : {&problem.a, &problem.b}) {
    if (operand->batch != 1 && operand->batch != problem.batch) {
      return mismatch("an operand of " + shape_text(*operand) + " in a batch of " + std::to_string(problem.batch));
    }
  }
  const bool rows_overlap = problem.m > 1 && problem.output_leading < problem.n;
  const bool matrices_overlap = problem.batch > 1 && problem.output_batch_stride == 0 && problem.m * problem.n > 0;
  if (rows_overlap || matrices_overlap) {
    return mismatch("rows or matrices of the output overlap");
  }
  if (problem.addend == Addend::kRow && problem.beta != 1 && problem.beta != 0) {
    return unsupported("matrix multiply: a scaled row cannot be added; expand it to a matrix");
  }
  return {};
}

MatmulProblem simplified(MatmulProblem problem) {
  if (problem.addend == Addend::kNone || problem.beta == 0) {
    problem.addend = Addend::kNone;
    problem.beta = 0;
  }
  const bool rows_follow = !problem.a.transposed && problem.a.batch == problem.batch &&
                           problem.a.batch_stride == problem.m * problem.a.leading &&
                           problem.output_batch_stride == problem.m * problem.output_leading;
  const bool shares_b = problem.b.batch == 1 || problem.b.batch_stride == 0;
  const bool addend_follows =
      problem.addend != Addend::kMatrix || problem.addend_batch_stride == problem.m * problem.addend_leading;
  if (problem.batch > 1 && rows_follow && shares_b && addend_follows) {
    problem.m *= problem.batch;
    problem.a.rows = problem.m;
    problem.a.batch = 1;
    problem.a.batch_stride = 0;
    problem.b.batch = 1;
    problem.b.batch_stride = 0;
    problem.batch = 1;
  }
  return problem;
}

MatmulProblem without_inner_extent(const MatmulProblem& problem) {
  MatmulProblem result = problem;
  result.k = 1;
  result.a = {.rows = problem.m, .columns = 1, .leading = 1};
  result.b = {.rows = 1, .columns = problem.n, .leading = problem.n};
  return result;
}

}  // namespace tessiq::libraries
