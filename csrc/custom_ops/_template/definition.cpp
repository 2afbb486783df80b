// Copy this folder, name it as the operation, and name the kernel's file and function alike. What each line means is in
// csrc/pytorch/custom/definition.h; a mistake is refused when tessiq is imported, with a sentence that says what it is.
//
// This one computes x * factor, element by element, with a kernel. An operation that computes each element from the
// inputs' elements at its position is better an expression: give `expression` instead of `launch`, and no .cu file.
#include <ATen/TensorOperators.h>

#include "pytorch/custom/definition.h"

namespace {

using tessiq::custom::Launch;

// What the operation computes, with ATen. Its parameters are the schema's.
at::Tensor reference(const at::Tensor& x, double factor) { return x * factor; }

constexpr int64_t kThreads = 256;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

// How the kernel runs for one call. Its parameters are the schema's and then the results. Tensors are packed.
Launch launch(const at::Tensor& x, double factor, const at::Tensor& /*result*/) {
  const int64_t blocks = (x.numel() + kThreads - 1) / kThreads;
  if (blocks > kMostBlocks) {
    return Launch::decline("more elements than one launch reaches");
  }
  Launch launch;
  launch.grid = {static_cast<unsigned>(blocks), 1, 1};
  launch.block = {static_cast<unsigned>(kThreads), 1, 1};
  // In the kernel's order and of its types: long long count, float factor.
  launch.numbers = {x.numel(), static_cast<float>(factor)};
  return launch;
}

// The gradient of each tensor argument, from those of the results, the arguments and the results.
at::Tensor backward(const at::Tensor& gradient, const at::Tensor& /*x*/, double factor, const at::Tensor& /*result*/) {
  return gradient * factor;
}

}  // namespace

TESSIQ_CUSTOM_OP(_template) {
  tessiq::custom::Definition definition;
  definition.schema = "_template(Tensor x, float factor=2.0) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  definition.backward = &backward;
  return definition;
}
