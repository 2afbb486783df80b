// Convolutions through cuDNN: forward, and the gradients of input and weight.
//
// Decides how PyTorch's tensors are described to the library, which plan runs, and what is refused before the library
// is asked. Leaves to the caller the allocation of results and workspace, and another way for what is refused.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/convolution.h"
#include "codegen/libraries/workspace.h"
#include "ir/element_type.h"
#include "runtime/device.h"
#include "support/result.h"

namespace tessiq::libraries {

inline constexpr int kMostConvolutionAxes = 5;

// Batch, channels, then two or three spatial axes; of a filter, output channels, input channels of a group, space.
struct ConvolutionTensor {
  std::array<int64_t, kMostConvolutionAxes> sizes = {};
  std::array<int64_t, kMostConvolutionAxes> strides = {};  // in elements
};

// response = convolution of image and filter; one of the three is computed from the others. A transposed convolution is
// the gradient of an image, so its input is called a response here and its output an image.
struct ConvolutionProblem {
  enum class Computes { kResponse, kImage, kFilter };
  Computes computes = Computes::kResponse;
  int axes = 4;  // 4 or 5; a convolution over one axis has a second of extent 1
  ConvolutionTensor image;
  ConvolutionTensor filter;
  ConvolutionTensor response;
  std::array<int64_t, 3> stride = {};
  std::array<int64_t, 3> padding = {};
  std::array<int64_t, 3> dilation = {};
  ir::ElementType element = ir::ElementType::kFloat32;  // of all three; sums are in float32, of float64 in float64
  bool allow_tf32 = false;                              // float32 products may be rounded to TF32
  bool deterministic = false;                           // the same bits for the same input
};

// What PyTorch calls the three tensors.
struct ConvolutionShape {
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;
};
struct ConvolutionShapes {
  ConvolutionShape input;
  ConvolutionShape weight;
  ConvolutionShape output;
};
enum class ConvolutionPart { kOutput, kInputGradient, kWeightGradient };

// kInvalidArgument where the sizes contradict one another; kUnsupported where a tensor has no element, has more than a
// library's 32-bit index reaches, or is not dense with its channels first or last.
Result<ConvolutionProblem> convolution_problem(ConvolutionPart part, const analysis::Convolution& numbers,
                                               const ConvolutionShapes& shapes, ir::ElementType element);

struct ConvolutionPointers {
  const void* left = nullptr;   // the image, or the response where the image is computed
  const void* right = nullptr;  // the filter, or the response where the filter is computed
  void* result = nullptr;
};

class ConvolutionPlan;

// Asks the library once per problem and device and keeps the answer, a refusal too. kUnsupported: no plan, or no
// library; the message says which. Safe from any thread.
Result<std::shared_ptr<ConvolutionPlan>> convolution_plan(Device& device, const ConvolutionProblem& problem);
Bytes workspace_of(const ConvolutionPlan& plan);
// Name of the engine that runs, with its settings.
std::string describe(const ConvolutionPlan& plan);

// Queued on `native_stream`. kUnsupported where a pointer is not aligned to 16 bytes. Safe from any thread.
Result<void> convolve(Device& device, ConvolutionPlan& plan, const ConvolutionPointers& pointers, Workspace workspace,
                      void* native_stream);

// Whether there is anything to ask on this device.
bool has_convolutions(const Device& device);

}  // namespace tessiq::libraries
