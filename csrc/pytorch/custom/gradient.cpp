// One autograd function serves every operation: tensors go through it as a list, so that it sees them all.
#include "pytorch/custom/gradient.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "pytorch/custom/reference.h"

namespace tessiq::custom {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool is_given(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

// The call's tensors, without those that were not given: autograd asks each where it is.
Tensors tensors_of(const Operation& operation, const Values& arguments) {
  Tensors tensors;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_tensor_argument(operation.schema.arguments()[i]) && is_given(arguments[i])) {
      tensors.push_back(arguments[i].toTensor());
    }
  }
  return tensors;
}

struct Call {
  const Operation& operation;
  const c10::OperatorHandle& op;
  const Values& arguments;
};

struct OperationFunction : torch::autograd::Function<OperationFunction> {
  static variable_list forward(AutogradContext* context, const Call& call, const at::TensorList& tensors) {
    torch::jit::Stack stack(call.arguments.begin(), call.arguments.end());
    {
      const at::AutoDispatchBelowADInplaceOrView below_autograd;
      call.op.callBoxed(stack);
    }
    variable_list saved(tensors.begin(), tensors.end());
    variable_list results;
    for (const c10::IValue& value : stack) {
      results.push_back(value.toTensor());
    }
    saved.insert(saved.end(), results.begin(), results.end());
    context->save_for_backward(std::move(saved));
    // The rest of the call. A tensor, which is kept as autograd keeps tensors, is true in its place.
    Values numbers = call.arguments;
    for (c10::IValue& value : numbers) {
      if (value.isTensor()) {
        value = is_given(value) ? c10::IValue(true) : c10::IValue();
      }
    }
    context->saved_data["numbers"] = c10::ivalue::Tuple::create(std::move(numbers));
    context->saved_data["operation"] = static_cast<int64_t>(reinterpret_cast<intptr_t>(&call.operation));
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto& operation =
        *reinterpret_cast<const Operation*>(static_cast<intptr_t>(context->saved_data["operation"].toInt()));
    const variable_list saved = context->get_saved_variables();
    const size_t tensor_count = saved.size() - operation.new_results;
    Values values;
    for (size_t i = 0; i < operation.new_results; ++i) {
      values.emplace_back(gradients[i].defined() ? gradients[i] : at::zeros_like(saved[tensor_count + i]));
    }
    size_t next = 0;
    const auto numbers = context->saved_data["numbers"].toTuple();
    std::vector<bool> given;  // one a tensor argument
    for (size_t i = 0; i < operation.schema.arguments().size(); ++i) {
      const c10::IValue& kept = numbers->elements()[i];
      const bool is_tensor = is_tensor_argument(operation.schema.arguments()[i]);
      if (is_tensor) {
        given.push_back(!kept.isNone());
      }
      values.push_back(is_tensor && given.back() ? c10::IValue(saved[next++]) : kept);
    }
    values.insert(values.end(), saved.begin() + static_cast<std::ptrdiff_t>(tensor_count), saved.end());
    const Tensors of_tensors = operation.definition.backward(values);
    TORCH_CHECK(of_tensors.size() == given.size(), "the backward of ", operation.name, " returned ", of_tensors.size(),
                " gradients, and the operation has ", given.size(), " tensor arguments");
    variable_list all(1);  // nothing flows into the description of the call
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i]) {
        all.push_back(of_tensors[i]);
      }
    }
    return all;
  }
};

}  // namespace

void RecordGradient::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) {
  const Values arguments(stack->end() - static_cast<std::ptrdiff_t>(operation.schema.arguments().size()), stack->end());
  const Tensors tensors = tensors_of(operation, arguments);
  variable_list results = OperationFunction::apply(Call{operation, op, arguments}, at::TensorList(tensors));
  stack->erase(stack->end() - static_cast<std::ptrdiff_t>(arguments.size()), stack->end());
  for (at::Tensor& result : results) {
    stack->emplace_back(std::move(result));
  }
}

}  // namespace tessiq::custom
