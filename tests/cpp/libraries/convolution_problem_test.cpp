// What a library is told of a convolution, from PyTorch's shapes. Needs no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "codegen/libraries/convolution.h"

namespace tessiq::libraries {
namespace {

using Computes = ConvolutionProblem::Computes;
using Numbers = std::vector<int64_t>;

struct Tensor {
  Numbers sizes;
  Numbers strides;
};

Tensor packed(Numbers sizes) {
  Numbers strides(sizes.size(), 1);
  for (size_t axis = sizes.size() - 1; axis > 0; --axis) {
    strides[axis - 1] = strides[axis] * sizes[axis];
  }
  return {std::move(sizes), std::move(strides)};
}

analysis::Convolution numbers(size_t axes) {
  analysis::Convolution convolution;
  convolution.stride.assign(axes, 1);
  convolution.padding.assign(axes, 0);
  convolution.dilation.assign(axes, 1);
  return convolution;
}

Result<ConvolutionProblem> described(ConvolutionPart part, const analysis::Convolution& convolution,
                                     const Tensor& input, const Tensor& weight, const Tensor& output) {
  return convolution_problem(
      part, convolution, {{input.sizes, input.strides}, {weight.sizes, weight.strides}, {output.sizes, output.strides}},
      ir::ElementType::kFloat32);
}

Numbers first(const std::array<int64_t, kMostConvolutionAxes>& all, int axes) {
  return {all.begin(), all.begin() + axes};
}

TEST(ConvolutionProblem, OneSpatialAxisBecomesTheSecondOfTwo) {
  auto convolution = numbers(1);
  convolution.stride = {2};
  convolution.padding = {1};
  const auto problem =
      described(ConvolutionPart::kOutput, convolution, packed({2, 3, 9}), packed({4, 3, 3}), packed({2, 4, 5}));
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  EXPECT_EQ(problem->axes, 4);
  EXPECT_EQ(problem->computes, Computes::kResponse);
  EXPECT_EQ(first(problem->image.sizes, 4), (Numbers{2, 3, 1, 9}));
  EXPECT_EQ(first(problem->filter.sizes, 4), (Numbers{4, 3, 1, 3}));
  EXPECT_EQ(problem->stride, (std::array<int64_t, 3>{1, 2, 0}));
  EXPECT_EQ(problem->padding, (std::array<int64_t, 3>{0, 1, 0}));
}

TEST(ConvolutionProblem, ATransposedConvolutionIsTheGradientOfAnImage) {
  auto convolution = numbers(2);
  convolution.transposed = true;
  convolution.stride = {2, 2};
  const Tensor input = packed({1, 6, 4, 4});
  const Tensor weight = packed({6, 3, 2, 2});
  const Tensor output = packed({1, 3, 8, 8});
  const auto forward = described(ConvolutionPart::kOutput, convolution, input, weight, output);
  ASSERT_TRUE(forward.ok()) << forward.error().message();
  EXPECT_EQ(forward->computes, Computes::kImage);
  EXPECT_EQ(first(forward->response.sizes, 4), input.sizes);
  EXPECT_EQ(first(forward->image.sizes, 4), output.sizes);
  const auto gradient = described(ConvolutionPart::kInputGradient, convolution, input, weight, output);
  ASSERT_TRUE(gradient.ok());
  EXPECT_EQ(gradient->computes, Computes::kResponse);
  const auto of_weight = described(ConvolutionPart::kWeightGradient, convolution, input, weight, output);
  ASSERT_TRUE(of_weight.ok());
  EXPECT_EQ(of_weight->computes, Computes::kFilter);
}

TEST(ConvolutionProblem, OneChannelOrOnePixelFollowsTheOtherTensors) {
  // A filter of one pixel has its channels first and last at once; its strides have to say last here.
  const Tensor image{{2, 8, 5, 5}, {200, 1, 40, 8}};
  const Tensor response{{2, 4, 5, 5}, {100, 1, 20, 4}};
  const auto problem = described(ConvolutionPart::kOutput, numbers(2), image, packed({4, 8, 1, 1}), response);
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  EXPECT_EQ(first(problem->filter.strides, 4), (Numbers{8, 1, 8, 8}));
  // One channel, and a stride there that means nothing.
  const Tensor one{{2, 1, 5, 5}, {25, 7, 5, 1}};
  const auto single = described(ConvolutionPart::kOutput, numbers(2), one, packed({1, 1, 5, 5}), packed({2, 1, 1, 1}));
  ASSERT_TRUE(single.ok()) << single.error().message();
  EXPECT_EQ(first(single->image.strides, 4), (Numbers{25, 25, 5, 1}));
}

TEST(ConvolutionProblem, RefusesWhatNoLibraryTakes) {
  const auto refusal = [](const Tensor& input, const Tensor& output) {
    const auto problem = described(ConvolutionPart::kOutput, numbers(2), input, packed({4, 3, 3, 3}), output);
    return problem.ok() ? "" : problem.error().message();
  };
  EXPECT_NE(refusal(packed({0, 3, 5, 5}), packed({0, 4, 3, 3})).find("empty"), std::string::npos);
  EXPECT_NE(refusal(packed({20000000, 3, 6, 6}), packed({20000000, 4, 4, 4})).find("32-bit"), std::string::npos);
  EXPECT_NE(refusal({{2, 3, 5, 5}, {75, 25, 1, 5}}, packed({2, 4, 3, 3})).find("dense"), std::string::npos);
  EXPECT_EQ(refusal(packed({2, 3, 5, 5}), packed({2, 4, 3, 3})), "");
}

TEST(ConvolutionProblem, SizesThatDoNotFitAreAnError) {
  const auto code = [](const Tensor& weight, const Tensor& output, int64_t groups) {
    auto convolution = numbers(2);
    convolution.groups = groups;
    const auto problem = described(ConvolutionPart::kOutput, convolution, packed({2, 4, 5, 5}), weight, output);
    return problem.ok() ? std::optional<ErrorCode>() : problem.error().code();
  };
  EXPECT_EQ(code(packed({4, 4, 3, 3}), packed({2, 4, 4, 3}), 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(packed({4, 3, 3, 3}), packed({2, 4, 3, 3}), 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(packed({4, 4, 7, 7}), packed({2, 4, 1, 1}), 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(packed({5, 2, 3, 3}), packed({2, 5, 3, 3}), 2), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(packed({6, 2, 3, 3}), packed({2, 6, 3, 3}), 2), std::nullopt);
}

}  // namespace
}  // namespace tessiq::libraries
