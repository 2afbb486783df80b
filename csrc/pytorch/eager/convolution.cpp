// Convolution arrives at operators that exist only for backends to implement; the fallback cannot see them, since
// they have a default that raises. Here they run PyTorch's convolution through the same tiers as any other operator.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include "pytorch/eager/fallback.h"

namespace tessiq::pytorch {
namespace {

const c10::OperatorHandle& find_operator(const char* name) {
  static const auto find = [](const char* wanted) {
    return new c10::OperatorHandle(c10::Dispatcher::singleton().findSchemaOrThrow(wanted, ""));
  };
  if (std::string_view(name) == "aten::convolution") {
    static const c10::OperatorHandle* forward = find("aten::convolution");
    return *forward;
  }
  static const c10::OperatorHandle* backward = find("aten::convolution_backward");
  return *backward;
}

void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fallback_as(op, find_operator("aten::convolution"), stack);
}

// convolution_backward also takes the sizes of the bias, after the weight.
constexpr size_t kBackwardArguments = 10;
constexpr size_t kWeightPosition = 2;

void convolution_backward(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const c10::OperatorHandle& kernel = find_operator("aten::convolution_backward");
  const auto first = stack->end() - kBackwardArguments;
  const int64_t channels = first->toTensor().size(1);
  stack->insert(first + kWeightPosition + 1, c10::IValue(std::vector<int64_t>{channels}));
  fallback_as(kernel, kernel, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  library.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

}  // namespace
}  // namespace tessiq::pytorch
