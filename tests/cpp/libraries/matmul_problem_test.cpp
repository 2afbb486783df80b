// Arithmetic on matrix multiplies before any library sees them. Needs no GPU.
#include "codegen/libraries/matmul_problem.h"

#include <gtest/gtest.h>

#include <vector>

namespace tessiq::libraries {
namespace {

analysis::MatrixLayout layout(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  auto result = analysis::matrix_layout(sizes, strides);
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result ? *result : analysis::MatrixLayout{};
}

MatmulProblem problem(const analysis::MatrixLayout& a, const analysis::MatrixLayout& b) {
  auto result = matmul_problem(a, b, ir::ElementType::kFloat32);
  EXPECT_TRUE(result.ok()) << result.error().message();
  return *result;
}

TEST(MatmulProblem, ReadsSizesFromLayouts) {
  // A linear layer's weight: stored out by in, used transposed.
  const MatmulProblem linear = problem(layout({8, 32}, {32, 1}), layout({32, 64}, {1, 32}));
  EXPECT_EQ(linear.m, 8);
  EXPECT_EQ(linear.n, 64);
  EXPECT_EQ(linear.k, 32);
  EXPECT_TRUE(linear.b.transposed);
  EXPECT_EQ(linear.b.leading, 32);
  EXPECT_EQ(linear.output_leading, 64);
  EXPECT_TRUE(check_problem(linear).ok());
}

TEST(MatmulProblem, RefusesOperandsThatDoNotFit) {
  auto result = matmul_problem(layout({8, 32}, {32, 1}), layout({31, 64}, {64, 1}), ir::ElementType::kFloat32);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  auto batches =
      matmul_problem(layout({3, 8, 32}, {256, 32, 1}), layout({2, 32, 8}, {256, 8, 1}), ir::ElementType::kFloat32);
  EXPECT_FALSE(batches.ok());
}

TEST(MatmulProblem, RefusesAnOutputWhoseRowsOverlap) {
  MatmulProblem overlapping = problem(layout({8, 32}, {32, 1}), layout({32, 64}, {64, 1}));
  overlapping.output_leading = 63;
  auto result = check_problem(overlapping);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
}

TEST(MatmulProblem, DoesNotScaleARow) {
  MatmulProblem scaled = problem(layout({8, 32}, {32, 1}), layout({32, 64}, {64, 1}));
  scaled.addend = Addend::kRow;
  scaled.beta = 0.5;
  auto result = check_problem(scaled);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kUnsupported);
  scaled.beta = 0;
  EXPECT_TRUE(check_problem(scaled).ok());
  EXPECT_EQ(simplified(scaled).addend, Addend::kNone);
}

TEST(MatmulProblem, ABatchThatSharesItsRightOperandIsOneMatrix) {
  const MatmulProblem batch = problem(layout({4, 8, 32}, {256, 32, 1}), layout({32, 64}, {64, 1}));
  const MatmulProblem one = simplified(batch);
  EXPECT_EQ(one.batch, 1);
  EXPECT_EQ(one.m, 32);
  EXPECT_EQ(one.a.rows, 32);
  EXPECT_TRUE(check_problem(one).ok());
}

TEST(MatmulProblem, ABatchWithGapsOrItsOwnRightOperandsStaysOne) {
  const MatmulProblem gaps = problem(layout({4, 8, 32}, {512, 32, 1}), layout({32, 64}, {64, 1}));
  EXPECT_EQ(simplified(gaps).batch, 4);
  const MatmulProblem own = problem(layout({4, 8, 32}, {256, 32, 1}), layout({4, 32, 64}, {2048, 64, 1}));
  EXPECT_EQ(simplified(own).batch, 4);
  const MatmulProblem shared_left = problem(layout({8, 32}, {32, 1}), layout({4, 32, 64}, {2048, 64, 1}));
  EXPECT_EQ(simplified(shared_left).batch, 4);
}

TEST(MatmulProblem, AnInnerExtentOfZeroIsAColumnOfZeros) {
  const MatmulProblem none = problem(layout({3, 0}, {1, 1}), layout({0, 5}, {5, 1}));
  const MatmulProblem zeros = without_inner_extent(none);
  EXPECT_EQ(zeros.k, 1);
  EXPECT_EQ(zeros.m, 3);
  EXPECT_EQ(zeros.n, 5);
  EXPECT_TRUE(check_problem(zeros).ok());
}

}  // namespace
}  // namespace tessiq::libraries
