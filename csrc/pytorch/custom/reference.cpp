// One boxed kernel a role; which operation it serves is its state.
#include "pytorch/custom/reference.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <algorithm>
#include <deque>

#include "pytorch/custom/functional_form.h"
#include "pytorch/custom/gradient.h"
#include "pytorch/custom/kernel_launch.h"
#include "pytorch/device/identity.h"
#include "pytorch/eager/fallback.h"

namespace tessiq::custom {
namespace {

using torch::jit::Stack;

Values arguments_on(const Operation& operation, const Stack& stack) {
  return {stack.end() - static_cast<std::ptrdiff_t>(operation.schema.arguments().size()), stack.end()};
}

void put_results(const Operation& operation, const Values& arguments, Tensors results, Stack& stack) {
  stack.erase(stack.end() - static_cast<std::ptrdiff_t>(arguments.size()), stack.end());
  size_t next = 0;
  for (const int argument : operation.result_arguments) {
    stack.push_back(argument < 0 ? c10::IValue(std::move(results.at(next++)))
                                 : arguments[static_cast<size_t>(argument)]);
  }
}

bool shares_memory(const at::Tensor& result, const Values& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() && value.toTensor().is_alias_of(result);
  });
}

// For every kind of tensor: host, meta, and PyTorch's own CUDA, where a tessiq GPU borrows it.
struct RunReference final : c10::OperatorKernel {
  explicit RunReference(const Operation& of) : operation(of) {}

  void operator()(const c10::OperatorHandle& /*op*/, c10::DispatchKeySet /*keys*/, Stack* stack) {
    const Values arguments = arguments_on(operation, *stack);
    put_results(operation, arguments, new_results(operation, arguments), *stack);
  }

  const Operation& operation;
};

// For tessiq's tensors. Also stands in for the operator that the operation replaces, which then falls back to PyTorch's
// own kernel of it.
struct RunKernel final : c10::OperatorKernel {
  explicit RunKernel(Operation& of) : operation(of) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, Stack* stack) {
    const Values arguments = arguments_on(operation, *stack);
    if (std::optional<Tensors> results = call_kernel(operation, arguments)) {
      put_results(operation, arguments, *std::move(results), *stack);
      return;
    }
    operation.fallbacks.fetch_add(1, std::memory_order_relaxed);
    pytorch::fallback_as(op, op, stack);
  }

  Operation& operation;
};

template <typename Kernel>
torch::CppFunction for_key(c10::DispatchKey key, Operation& operation) {
  return torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(operation)));
}

// Registrations last as long as the process.
torch::Library& library(torch::Library::Kind kind, const std::string& name, std::optional<c10::DispatchKey> key) {
  static auto* libraries = new std::deque<torch::Library>();
  return libraries->emplace_back(kind, name, key, __FILE__, __LINE__);
}

void stand_in_for(Operation& operation) {
  const std::string& replaced = operation.definition.replaces;
  const size_t colons = replaced.find("::");
  torch::Library& impl = library(torch::Library::IMPL, replaced.substr(0, colons), c10::DispatchKey::PrivateUse1);
  impl.impl(replaced.substr(colons + 2).c_str(), for_key<RunKernel>(c10::DispatchKey::PrivateUse1, operation));
}

}  // namespace

bool is_tensor_argument(const c10::Argument& argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return (optional ? optional->getElementType() : argument.type())->kind() == c10::TypeKind::TensorType;
}

Tensors new_results(const Operation& operation, const Values& arguments) {
  Tensors results = operation.definition.reference(arguments);
  if (operation.writes) {
    return {};
  }
  TORCH_CHECK(results.size() == operation.new_results, "the reference of ", operation.name, " returned ",
              results.size(), " tensors where its schema has ", operation.new_results);
  for (at::Tensor& result : results) {
    TORCH_CHECK(result.defined(), "the reference of ", operation.name, " returned an undefined tensor");
    result = result.contiguous();
    if (shares_memory(result, arguments)) {
      result = result.clone(at::MemoryFormat::Contiguous);
    }
  }
  return results;
}

void register_with_pytorch(Operation& operation) {
  torch::Library& define = library(torch::Library::FRAGMENT, "tessiq", std::nullopt);
  const char* name = operation.name.c_str();
  define.def(c10::FunctionSchema(operation.schema), {at::Tag::pt2_compliant_tag});
  define.impl(name, for_key<RunReference>(c10::DispatchKey::CompositeExplicitAutograd, operation));
  define.impl(name, for_key<RunKernel>(c10::DispatchKey::PrivateUse1, operation));
  if (operation.definition.backward) {
    define.impl(name, for_key<RecordGradient>(c10::DispatchKey::Autograd, operation));
  } else {
    define.impl(name, torch::dispatch(c10::DispatchKey::Autograd, torch::autograd::autogradNotImplementedFallback()));
  }
  if (operation.writes) {
    define_functional_form(operation, define);
    define.impl(name, torch::dispatch(c10::DispatchKey::ADInplaceOrView,
                                      torch::autograd::autogradNotImplementedInplaceOrViewFallback()));
  }
  if (!operation.definition.replaces.empty()) {
    stand_in_for(operation);
  }
}

}  // namespace tessiq::custom
