// Walking the stack by the operator's facts.
#include "pytorch/eager/call_arguments.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "pytorch/device/identity.h"

namespace tessiq::pytorch {

CallArguments::CallArguments(const OperatorFacts& facts, torch::jit::Stack& stack)
    : facts_(facts), stack_(stack), first_(stack.size() - facts.argument_count) {
  collect();
  choose_device();
  refuse_overlap();
}

void CallArguments::add(const at::Tensor& tensor, bool written) {
  if (!tensor.defined()) {
    return;
  }
  if (tensor.device().type() != kTessiq) {
    if (tensor.device().is_cpu() && (tensor.dim() > 0 || written)) {
      host_tensor_ = tensor.unsafeGetTensorImpl();
    }
    return;
  }
  for (TensorUse& use : uses_) {
    if (use.own.is_same(tensor)) {
      use.written |= written;
      return;
    }
  }
  uses_.push_back({tensor, {}, written});
}

void CallArguments::collect() {
  for (const ArgumentFacts& argument : facts_.arguments) {
    const c10::IValue& value = stack_[first_ + argument.position];
    if (argument.written) {
      written_positions_.push_back(argument.position);
      written_values_.push_back(value);
    }
    if (value.isTensor()) {
      add(value.toTensor(), argument.written);
    } else if (argument.kind == ArgumentKind::kTensorList && value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        add(tensor, argument.written);
      }
    } else if (argument.kind == ArgumentKind::kOptionalTensorList && value.isList()) {
      for (const c10::IValue& element : value.toListRef()) {
        if (element.isTensor()) {
          add(element.toTensor(), argument.written);
        }
      }
    }
  }
}

void CallArguments::choose_device() {
  if (!uses_.empty()) {
    device_ = resolve(uses_.front().own.device());
    for (const TensorUse& use : uses_) {
      TORCH_CHECK(resolve(use.own.device()) == device_,
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  uses_.front().own.device(), " and ", use.own.device(), "!");
    }
    return;
  }
  device_ = current_device();
  for (const ArgumentFacts& argument : facts_.arguments) {
    const c10::IValue& value = stack_[first_ + argument.position];
    if (argument.kind == ArgumentKind::kDevice && value.isDevice() && value.toDevice().type() == kTessiq) {
      device_ = resolve(value.toDevice());
    } else if (argument.kind == ArgumentKind::kGenerator && value.isGenerator() &&
               value.toGenerator().device().type() == kTessiq) {
      device_ = resolve(value.toGenerator().device());
    }
  }
}

void CallArguments::refuse_overlap() const {
  for (const TensorUse& use : uses_) {
    if (use.written) {
      at::assert_no_internal_overlap(use.own);
    }
  }
}

void CallArguments::refuse_host_tensors() const {
  TORCH_CHECK(host_tensor_ == nullptr || uses_.empty() || facts_.mixes_devices,
              "Expected all tensors to be on the same device, but found at least two devices, ", to_torch(device_),
              " and cpu! (in ", facts_.name, ")");
}

at::Tensor CallArguments::exchanged(const at::Tensor& tensor) const {
  if (tensor.defined() && tensor.device().type() == kTessiq) {
    for (const TensorUse& use : uses_) {
      if (use.own.is_same(tensor)) {
        return use.lent;
      }
    }
  }
  return tensor;
}

c10::IValue CallArguments::exchanged_value(const c10::IValue& value, ArgumentKind kind, c10::Device device) const {
  if (value.isTensor()) {
    return exchanged(value.toTensor());
  }
  if (kind == ArgumentKind::kTensorList && value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      list.push_back(exchanged(tensor));
    }
    return list;
  }
  if (kind == ArgumentKind::kOptionalTensorList && value.isList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const c10::IValue& element : value.toListRef()) {
      list.push_back(element.isTensor() ? std::optional(exchanged(element.toTensor())) : std::nullopt);
    }
    return list;
  }
  if (kind == ArgumentKind::kDevice && value.isDevice() && value.toDevice().type() == kTessiq) {
    return device;
  }
  return value;
}

void CallArguments::exchange(c10::Device device) {
  for (const ArgumentFacts& argument : facts_.arguments) {
    c10::IValue& value = stack_[first_ + argument.position];
    if (!value.isNone()) {
      value = exchanged_value(value, argument.kind, device);
    }
  }
}

void CallArguments::set_generator(const at::Generator& generator) {
  for (const ArgumentFacts& argument : facts_.arguments) {
    if (argument.kind == ArgumentKind::kGenerator) {
      stack_[first_ + argument.position] = generator;
    }
  }
}

std::optional<at::Generator> CallArguments::generator() const {
  for (const ArgumentFacts& argument : facts_.arguments) {
    const c10::IValue& value = stack_[first_ + argument.position];
    if (argument.kind == ArgumentKind::kGenerator && value.isGenerator()) {
      return value.toGenerator();
    }
  }
  return std::nullopt;
}

c10::IValue CallArguments::restored(const c10::IValue& value,
                                    const std::function<at::Tensor(const at::Tensor&)>& wrap) const {
  if (value.isTensor()) {
    return wrap(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      list.push_back(wrap(tensor));
    }
    return list;
  }
  return value;
}

void CallArguments::restore_results(const std::function<at::Tensor(const at::Tensor&)>& wrap) {
  const size_t first_result = stack_.size() - facts_.results.size();
  for (size_t i = 0; i < facts_.results.size(); ++i) {
    c10::IValue& value = stack_[first_result + i];
    const int argument = facts_.results[i].argument;
    if (argument < 0) {
      value = restored(value, wrap);
      continue;
    }
    const auto found = std::ranges::find(written_positions_, static_cast<size_t>(argument));
    value = written_values_[static_cast<size_t>(found - written_positions_.begin())];
  }
}

}  // namespace tessiq::pytorch
