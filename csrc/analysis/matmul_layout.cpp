// Which of the two storage orders a matrix operand has, from sizes of a call or from what the graph proves of them.
#include "analysis/matmul_layout.h"

#include <algorithm>
#include <string>

#include "analysis/size_algebra.h"
#include "analysis/symbol_expansion.h"

namespace tessiq::analysis {
namespace {

using ir::SizeExpr;

bool is_one(const SizeExpr& expression) {
  return expression.kind == SizeExpr::Kind::kConstant && expression.constant == 1;
}

std::vector<SizeExpr> factors_of(const SizeExpr& normal) {
  return normal.kind == SizeExpr::Kind::kMul ? normal.operands : std::vector<SizeExpr>{normal};
}

// Whether every call gives `stride` at least the value of `extent`, or an empty tensor: the factors of the extent are
// among those of the stride, and the constant is as large.
bool covers(const SizeExpr& stride, const SizeExpr& extent) {
  std::vector<SizeExpr> available = factors_of(normalize(stride));
  int64_t constant = 1;
  for (const SizeExpr& factor : available) {
    constant = factor.kind == SizeExpr::Kind::kConstant ? factor.constant : constant;
  }
  for (const SizeExpr& factor : factors_of(normalize(extent))) {
    if (factor.kind == SizeExpr::Kind::kConstant) {
      if (constant < factor.constant) {
        return false;
      }
      continue;
    }
    const auto found = std::find(available.begin(), available.end(), factor);
    if (found == available.end()) {
      return false;
    }
    available.erase(found);
  }
  return constant >= 1;
}

}  // namespace

Result<MatrixLayout> matrix_layout(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  const size_t rank = sizes.size();
  if ((rank != 2 && rank != 3) || strides.size() != rank) {
    return invalid_argument("a matrix operand has two or three axes, and this one has " + std::to_string(rank));
  }
  MatrixLayout layout;
  layout.rows = sizes[rank - 2];
  layout.columns = sizes[rank - 1];
  layout.batch = rank == 3 ? sizes[0] : 1;
  layout.batch_stride = rank == 3 && layout.batch > 1 ? strides[0] : 0;
  const int64_t row_stride = strides[rank - 2];
  const int64_t column_stride = strides[rank - 1];
  const bool empty = layout.rows == 0 || layout.columns == 0 || layout.batch == 0;
  // A single row or column has no stride of its own.
  const bool one_row = layout.rows <= 1;
  const bool one_column = layout.columns <= 1;
  if (empty || ((column_stride == 1 || one_column) && (row_stride >= layout.columns || one_row) &&
                (row_stride >= 1 || one_row))) {
    layout.leading = empty || one_row ? std::max<int64_t>(layout.columns, 1) : row_stride;
    return layout;
  }
  if ((row_stride == 1 || one_row) && (column_stride >= layout.rows || one_column)) {
    layout.transposed = true;
    layout.leading = one_column ? std::max<int64_t>(layout.rows, 1) : column_stride;
    return layout;
  }
  return unsupported("strides of " + std::to_string(row_stride) + " and " + std::to_string(column_stride) +
                     " are neither a matrix of " + std::to_string(layout.rows) + " by " +
                     std::to_string(layout.columns) + " nor the transpose of one");
}

bool readable_as_matrix(const ir::TensorType& type, const ir::Graph* definitions, MatrixOrder order) {
  const Result<std::vector<SizeExpr>> strides = stride_exprs(type);
  if (type.rank() < 2 || !strides) {
    return false;
  }
  const auto row = static_cast<size_t>(type.rank() - 2);
  const size_t column = row + 1;
  const Result<SizeExpr> row_extent = to_expr(type.shape[row]);
  const Result<SizeExpr> column_extent = to_expr(type.shape[column]);
  if (!row_extent || !column_extent) {
    return false;
  }
  const SizeExpr rows = expand(*row_extent, definitions);
  const SizeExpr columns = expand(*column_extent, definitions);
  const SizeExpr row_stride = expand((*strides)[row], definitions);
  const SizeExpr column_stride = expand((*strides)[column], definitions);
  if ((is_one(column_stride) || is_one(columns)) && (is_one(rows) || covers(row_stride, columns))) {
    return true;
  }
  return order == MatrixOrder::kEither && (is_one(row_stride) || is_one(rows)) &&
         (is_one(columns) || covers(column_stride, rows));
}

}  // namespace tessiq::analysis
