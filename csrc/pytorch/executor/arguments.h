// From an instruction's arguments to the values a dispatcher call takes, guided by the operator's own schema.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "program/program.h"
#include "pytorch/executor/registers.h"

namespace tessiq::pytorch {

// One operator call, prepared when the program is loaded: everything that no call changes is converted once.
class PreparedCall {
 public:
  // Raises where the operator does not exist or an argument does not fit its schema.
  PreparedCall(const program::Dispatch& dispatch, c10::Device device);

  // One value an argument of the operator's schema.
  std::vector<c10::IValue> arguments(Registers& registers, const std::vector<int64_t>& sizes) const;
  // Raises what the operator raises. Results that are lists are flattened.
  std::vector<at::Tensor> call(Registers& registers, const std::vector<int64_t>& sizes) const;

 private:
  // An argument that depends on the call.
  struct Patch {
    size_t position;
    program::Argument argument;
    c10::TypePtr type;
  };

  c10::OperatorHandle op_;
  std::vector<c10::IValue> template_;
  std::vector<Patch> patches_;
};

}  // namespace tessiq::pytorch
