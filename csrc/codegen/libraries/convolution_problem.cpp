// From PyTorch's shapes to the description a library takes. Pure arithmetic.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "codegen/libraries/convolution.h"
#include "support/int_math.h"

namespace tessiq::libraries {
namespace {

using Sizes = std::array<int64_t, kMostConvolutionAxes>;

std::string text_of(const Sizes& numbers, int axes) {
  std::string text;
  for (int axis = 0; axis < axes; ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(numbers[static_cast<size_t>(axis)]);
  }
  return "[" + text + "]";
}

// A single spatial axis becomes the second of two.
ConvolutionTensor widened(const ConvolutionShape& shape, int axes) {
  ConvolutionTensor tensor;
  const size_t given = shape.sizes.size();
  const size_t shift = static_cast<size_t>(axes) - given;
  for (size_t axis = 0; axis < static_cast<size_t>(axes); ++axis) {
    if (axis >= 2 && axis < 2 + shift) {
      tensor.sizes[axis] = 1;
      tensor.strides[axis] = 1;
      continue;
    }
    const size_t from = axis < 2 ? axis : axis - shift;
    tensor.sizes[axis] = shape.sizes[from];
    tensor.strides[axis] = shape.strides[from];
  }
  return tensor;
}

std::array<int64_t, 3> widened(const std::vector<int64_t>& numbers, int64_t missing) {
  std::array<int64_t, 3> wide = {};
  const size_t shift = numbers.size() == 1 ? 1 : 0;
  wide[0] = missing;
  std::copy(numbers.begin(), numbers.end(), wide.begin() + static_cast<std::ptrdiff_t>(shift));
  return wide;
}

// Strides of a dense tensor. Every axis gets one, also where it is never stepped along: libraries tell the order of the
// channels by them.
Sizes dense_strides(const Sizes& sizes, int axes, analysis::ChannelOrder order) {
  Sizes strides = {};
  int64_t next = 1;
  const auto place = [&](int axis) {
    strides[static_cast<size_t>(axis)] = next;
    next *= sizes[static_cast<size_t>(axis)];
  };
  if (order == analysis::ChannelOrder::kLast) {
    place(1);
  }
  for (int axis = axes - 1; axis >= 2; --axis) {
    place(axis);
  }
  if (order == analysis::ChannelOrder::kFirst) {
    place(1);
  }
  place(0);
  return strides;
}

bool lies_in(const ConvolutionTensor& tensor, int axes, analysis::ChannelOrder order) {
  const Sizes dense = dense_strides(tensor.sizes, axes, order);
  for (size_t axis = 0; axis < static_cast<size_t>(axes); ++axis) {
    if (tensor.sizes[axis] != 1 && tensor.strides[axis] != dense[axis]) {
      return false;
    }
  }
  return true;
}

// One order for all three where there is one, since a tensor with one channel or one pixel is in both.
Result<void> settle_strides(ConvolutionProblem& problem) {
  for (const auto order : {analysis::ChannelOrder::kFirst, analysis::ChannelOrder::kLast}) {
    const std::array<ConvolutionTensor*, 3> tensors = {&problem.image, &problem.filter, &problem.response};
    if (std::all_of(tensors.begin(), tensors.end(),
                    [&](const ConvolutionTensor* tensor) { return lies_in(*tensor, problem.axes, order); })) {
      for (ConvolutionTensor* tensor : tensors) {
        tensor->strides = dense_strides(tensor->sizes, problem.axes, order);
      }
      return {};
    }
  }
  return unsupported("a convolution whose tensors are not dense with their channels all first or all last: strides " +
                     text_of(problem.image.strides, problem.axes) + ", " +
                     text_of(problem.filter.strides, problem.axes) + ", " +
                     text_of(problem.response.strides, problem.axes));
}

Result<void> check_counts(const ConvolutionProblem& problem) {
  for (const ConvolutionTensor* tensor : {&problem.image, &problem.filter, &problem.response}) {
    std::optional<int64_t> count = 1;
    for (size_t axis = 0; axis < static_cast<size_t>(problem.axes); ++axis) {
      count = count ? checked_mul(*count, tensor->sizes[axis]) : std::nullopt;
    }
    if (!count || *count > std::numeric_limits<int32_t>::max()) {
      return unsupported("a convolution of a tensor of " + text_of(tensor->sizes, problem.axes) +
                         " elements, which is more than a 32-bit index reaches");
    }
    if (*count == 0) {
      return unsupported("a convolution of an empty tensor, " + text_of(tensor->sizes, problem.axes));
    }
  }
  return {};
}

// The sizes PyTorch gives, and no others: a library would read past the end.
Result<void> check_sizes(const ConvolutionProblem& problem, int64_t groups) {
  const Sizes& image = problem.image.sizes;
  const Sizes& filter = problem.filter.sizes;
  const Sizes& response = problem.response.sizes;
  bool fits = groups >= 1 && image[0] == response[0] && response[1] == filter[0] && image[1] == filter[1] * groups &&
              filter[0] % groups == 0;
  for (size_t i = 0; i < static_cast<size_t>(problem.axes - 2); ++i) {
    const int64_t reach = problem.dilation[i] * (filter[i + 2] - 1) + 1;
    const int64_t room = image[i + 2] + 2 * problem.padding[i] - reach;
    fits = fits && room >= 0 && response[i + 2] == room / problem.stride[i] + 1;
  }
  if (!fits) {
    return invalid_argument("an image of " + text_of(image, problem.axes) + " and a filter of " +
                            text_of(filter, problem.axes) + " in " + std::to_string(groups) +
                            " groups do not give a response of " + text_of(response, problem.axes));
  }
  return {};
}

}  // namespace

Result<ConvolutionProblem> convolution_problem(ConvolutionPart part, const analysis::Convolution& numbers,
                                               const ConvolutionShapes& shapes, ir::ElementType element) {
  using Computes = ConvolutionProblem::Computes;
  const size_t rank = shapes.input.sizes.size();
  if (rank < 3 || rank > kMostConvolutionAxes || shapes.weight.sizes.size() != rank ||
      shapes.output.sizes.size() != rank || numbers.stride.size() != rank - 2) {
    return invalid_argument("a convolution has one to three spatial axes, the same of all its tensors");
  }
  ConvolutionProblem problem;
  problem.axes = std::max(4, static_cast<int>(rank));
  problem.element = element;
  problem.image = widened(numbers.transposed ? shapes.output : shapes.input, problem.axes);
  problem.filter = widened(shapes.weight, problem.axes);
  problem.response = widened(numbers.transposed ? shapes.input : shapes.output, problem.axes);
  problem.stride = widened(numbers.stride, 1);
  problem.padding = widened(numbers.padding, 0);
  problem.dilation = widened(numbers.dilation, 1);
  if (part == ConvolutionPart::kWeightGradient) {
    problem.computes = Computes::kFilter;
  } else {
    const bool is_image = (part == ConvolutionPart::kOutput) == numbers.transposed;
    problem.computes = is_image ? Computes::kImage : Computes::kResponse;
  }
  TESSIQ_RETURN_IF_ERROR(check_counts(problem));
  TESSIQ_RETURN_IF_ERROR(check_sizes(problem, numbers.groups));
  TESSIQ_RETURN_IF_ERROR(settle_strides(problem));
  return problem;
}

}  // namespace tessiq::libraries
