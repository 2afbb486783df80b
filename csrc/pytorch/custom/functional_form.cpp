// Both kernels are boxed, and work on the arguments that the schema says are written.
#include "pytorch/custom/functional_form.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>

namespace tessiq::custom {
namespace {

namespace functional = at::functionalization::impl;
using torch::jit::Stack;

constexpr const char* kOverload = "functional";

std::vector<size_t> written_positions(const Operation& operation) {
  std::vector<size_t> positions;
  const auto& arguments = operation.schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite()) {
      positions.push_back(i);
    }
  }
  return positions;
}

c10::FunctionSchema functional_schema(const Operation& operation) {
  std::vector<c10::Argument> arguments;
  std::vector<c10::Argument> returns;
  for (const c10::Argument& argument : operation.schema.arguments()) {
    arguments.emplace_back(argument.name(), argument.type(), argument.N(), argument.default_value(),
                           argument.kwarg_only());
  }
  for (const size_t position : written_positions(operation)) {
    returns.emplace_back("", operation.schema.arguments()[position].type());
  }
  return c10::FunctionSchema(operation.schema.name(), kOverload, std::move(arguments), std::move(returns));
}

Values take_arguments(const Operation& operation, Stack& stack) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(operation.schema.arguments().size());
  Values arguments(first, stack.end());
  stack.erase(first, stack.end());
  return arguments;
}

c10::OperatorHandle handle(const Operation& operation, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(operation.schema.name().c_str(), overload);
}

// Writes copies of the arguments and returns those.
struct RunOnCopies final : c10::OperatorKernel {
  explicit RunOnCopies(const Operation& of) : operation(of) {}

  void operator()(const c10::OperatorHandle& /*op*/, c10::DispatchKeySet /*keys*/, Stack* stack) {
    Values arguments = take_arguments(operation, *stack);
    for (const size_t position : written_positions(operation)) {
      arguments[position] = arguments[position].toTensor().clone(at::MemoryFormat::Contiguous);
    }
    Stack inner(arguments.begin(), arguments.end());
    handle(operation, "").callBoxed(inner);
    for (const size_t position : written_positions(operation)) {
      stack->push_back(arguments[position]);
    }
  }

  const Operation& operation;
};

// While PyTorch makes a graph functional: the functional form is called, and its results become the written arguments.
struct MakeFunctional final : c10::OperatorKernel {
  explicit MakeFunctional(const Operation& of) : operation(of) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, Stack* stack) {
    const Values arguments = take_arguments(operation, *stack);
    Stack inner;
    bool any = false;
    for (const c10::IValue& value : arguments) {
      const bool wrapped = value.isTensor() && functional::isFunctionalTensor(value.toTensor());
      any = any || wrapped;
      if (wrapped) {
        functional::sync(value.toTensor());
        inner.emplace_back(functional::from_functional_tensor(value.toTensor()));
      } else {
        inner.push_back(value);
      }
    }
    {
      const at::AutoDispatchSkipFunctionalize below;
      (any ? handle(operation, kOverload) : op).callBoxed(inner);
    }
    size_t next = 0;
    for (const size_t position : any ? written_positions(operation) : std::vector<size_t>()) {
      const at::Tensor& tensor = arguments[position].toTensor();
      TORCH_CHECK(functional::isFunctionalTensor(tensor), operation.name, " writes a tensor that is no part of the ",
                  "graph which it is traced into");
      functional::replace_(tensor, inner[next++].toTensor());
      functional::commit_update(tensor);
      functional::sync(tensor);
    }
    for (const int argument : operation.result_arguments) {
      stack->push_back(arguments[static_cast<size_t>(argument)]);
    }
  }

  const Operation& operation;
};

}  // namespace

void define_functional_form(Operation& operation, torch::Library& library) {
  const std::string form = operation.name + "." + kOverload;
  library.def(functional_schema(operation), {at::Tag::pt2_compliant_tag});
  library.impl(form.c_str(),
               torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                               torch::CppFunction::makeFromBoxedFunctor(std::make_unique<RunOnCopies>(operation))));
  library.impl(operation.name.c_str(),
               torch::dispatch(c10::DispatchKey::Functionalize,
                               torch::CppFunction::makeFromBoxedFunctor(std::make_unique<MakeFunctional>(operation))));
}

}  // namespace tessiq::custom
