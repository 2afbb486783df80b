// A layout given to the library addresses every element where the strides say it is.
#include "analysis/matmul_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "analysis/parsed_graph.h"

namespace tessiq::analysis {
namespace {

int64_t library_offset(const MatrixLayout& layout, int64_t batch, int64_t row, int64_t column) {
  const int64_t within = layout.transposed ? column * layout.leading + row : row * layout.leading + column;
  return batch * layout.batch_stride + within;
}

TEST(MatrixLayout, AddressesEveryElementAsTheStridesDo) {
  std::mt19937 random(5);
  int answered = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::array<int64_t, 3> sizes{static_cast<int64_t>(random() % 3), static_cast<int64_t>(random() % 4),
                                       static_cast<int64_t>(random() % 4)};
    const std::array<int64_t, 3> strides{static_cast<int64_t>(random() % 13), static_cast<int64_t>(random() % 5),
                                         static_cast<int64_t>(random() % 5)};
    const auto layout = matrix_layout(sizes, strides);
    if (!layout) {
      EXPECT_EQ(layout.error().code(), ErrorCode::kUnsupported);
      continue;
    }
    ++answered;
    // What BLAS asks of a leading dimension.
    EXPECT_GE(layout->leading, std::max<int64_t>(1, layout->transposed ? layout->rows : layout->columns));
    for (int64_t batch = 0; batch < sizes[0]; ++batch) {
      for (int64_t row = 0; row < sizes[1]; ++row) {
        for (int64_t column = 0; column < sizes[2]; ++column) {
          ASSERT_EQ(library_offset(*layout, batch, row, column),
                    batch * strides[0] + row * strides[1] + column * strides[2]);
        }
      }
    }
  }
  EXPECT_GT(answered, 1000);
}

TEST(MatrixLayout, ReadsATransposeWithoutACopy) {
  const std::array<int64_t, 2> sizes{8, 16};
  const auto layout = matrix_layout(sizes, std::array<int64_t, 2>{1, 8});
  ASSERT_TRUE(layout.ok());
  EXPECT_TRUE(layout->transposed);
  EXPECT_EQ(layout->leading, 8);
}

TEST(MatrixLayout, RefusesRowsThatOverlapAndGapsBothWays) {
  const std::array<int64_t, 2> sizes{4, 4};
  EXPECT_FALSE(matrix_layout(sizes, std::array<int64_t, 2>{0, 1}).ok());
  EXPECT_FALSE(matrix_layout(sizes, std::array<int64_t, 2>{3, 1}).ok());
  EXPECT_FALSE(matrix_layout(sizes, std::array<int64_t, 2>{8, 2}).ok());
  EXPECT_EQ(matrix_layout(std::array<int64_t, 1>{4}, std::array<int64_t, 1>{1}).error().code(),
            ErrorCode::kInvalidArgument);
}

// The answer while sizes are symbols may be no more generous than the answer once they are numbers.
TEST(ReadableAsMatrix, IsTrueOnlyWhereTheNumbersHaveALayout) {
  std::mt19937 random(9);
  int readable = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto extent = [&]() -> ir::Extent {
      return random() % 2 == 0 ? ir::Extent(static_cast<int64_t>(1 + random() % 4)) : ir::Extent::symbol("s0");
    };
    const ir::Shape shape{extent(), extent()};
    const auto stride = [&]() -> ir::Extent {
      return random() % 2 == 0 ? shape[random() % 2] : ir::Extent(static_cast<int64_t>(random() % 6));
    };
    const ir::TensorType type{ir::ElementType::kFloat32, shape, {{stride(), stride()}}};
    for (const MatrixOrder order : {MatrixOrder::kEither, MatrixOrder::kRowMajor}) {
      if (!readable_as_matrix(type, nullptr, order)) {
        continue;
      }
      ++readable;
      for (int64_t s0 = 1; s0 < 6; ++s0) {
        const auto value = [&](const ir::Extent& one) { return one.is_known() ? one.known() : s0; };
        const std::array<int64_t, 2> sizes{value(shape[0]), value(shape[1])};
        const std::array<int64_t, 2> strides{value((*type.strides)[0]), value((*type.strides)[1])};
        const auto layout = matrix_layout(sizes, strides);
        ASSERT_TRUE(layout.ok()) << type.to_string() << " with s0 = " << s0;
        EXPECT_FALSE(order == MatrixOrder::kRowMajor && layout->transposed) << type.to_string();
      }
    }
  }
  EXPECT_GT(readable, 200);
}

TEST(ReadableAsMatrix, KnowsWhatADefinedSymbolStandsFor) {
  const auto graph = parsed(R"(graph @main(%a: f32[8, s0, 64]{64, s1, 1}) {
    symbol s1 = s0 * 512
    return %a
  })");
  const ir::TensorType& type = graph->parameters().front()->type();
  EXPECT_FALSE(readable_as_matrix(type, nullptr));
  EXPECT_TRUE(readable_as_matrix(type, graph.get()));
}

}  // namespace
}  // namespace tessiq::analysis
