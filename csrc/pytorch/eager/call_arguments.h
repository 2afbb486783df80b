// The arguments of one boxed call: its tensors found, checked and exchanged for others, and its results put back.
//
// Decides which device the call belongs to, which calls are refused before any kernel runs, and that an in-place or
// out= operator returns the caller's own tensor. What the exchanged tensors are is the tier's choice.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <functional>

#include "pytorch/eager/operator_facts.h"
#include "runtime/device.h"

namespace tessiq::pytorch {

struct TensorUse {
  at::Tensor own;   // as the caller gave it
  at::Tensor lent;  // what the kernel gets; undefined until the tier sets it
  bool written;
};

class CallArguments {
 public:
  // Reads the last `facts.argument_count` values of `stack`. Raises for tensors of several devices and for writes to
  // memory that overlaps itself.
  CallArguments(const OperatorFacts& facts, torch::jit::Stack& stack);

  DeviceIndex device() const { return device_; }
  // Tensors of this device only, each tensor object once.
  c10::SmallVectorImpl<TensorUse>& uses() { return uses_; }

  // Host tensors of more than no dimension beside ours: PyTorch's own error. CUDA kernels check this themselves.
  void refuse_host_tensors() const;

  // Puts the lent tensors on the stack, and `device` in place of ours wherever a device is an argument.
  void exchange(c10::Device device);
  // Replaces every generator argument, also an absent one.
  void set_generator(const at::Generator& generator);
  std::optional<at::Generator> generator() const;

  // After the kernel: results that are arguments become the caller's tensors, new ones go through `wrap`.
  void restore_results(const std::function<at::Tensor(const at::Tensor&)>& wrap);

 private:
  void collect();
  void add(const at::Tensor& tensor, bool written);
  void choose_device();
  void refuse_overlap() const;
  at::Tensor exchanged(const at::Tensor& tensor) const;
  c10::IValue exchanged_value(const c10::IValue& value, ArgumentKind kind, c10::Device device) const;
  c10::IValue restored(const c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& wrap) const;

  const OperatorFacts& facts_;
  torch::jit::Stack& stack_;
  size_t first_;  // position of the first argument on the stack
  DeviceIndex device_{};
  c10::SmallVector<TensorUse, 6> uses_;
  c10::SmallVector<c10::IValue, 2> written_values_;  // the caller's values of arguments that results may be
  c10::SmallVector<size_t, 2> written_positions_;
  const c10::TensorImpl* host_tensor_ = nullptr;  // a host tensor of more than no dimension, or a written one
};

}  // namespace tessiq::pytorch
