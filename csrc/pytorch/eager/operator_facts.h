// What the fallback needs to know about an operator, read from its schema once.
//
// Decides which arguments hold tensors, which of them are written, which results are the caller's own tensors, and
// whether the operator is a view or draws random numbers. Leaves running it to the tiers.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessiq::pytorch {

enum class ArgumentKind { kTensor, kTensorList, kOptionalTensorList, kDevice, kGenerator, kOther };

struct ArgumentFacts {
  size_t position;
  ArgumentKind kind;
  bool written;
};

struct ResultFacts {
  // Position of the argument that this result is, or -1 where it is a new value.
  int argument = -1;
};

struct OperatorFacts {
  std::string name;  // "aten::add.out"
  c10::OperatorName operator_name{"", ""};
  size_t argument_count = 0;
  std::vector<ArgumentFacts> arguments;  // those of interest, in order
  std::vector<ResultFacts> results;
  bool is_view = false;    // a result shares memory with an argument that is not written
  bool is_random = false;  // takes a generator, or PyTorch tags it as seeded
  bool takes_generator = false;
  bool mixes_devices = false;  // PyTorch itself lets host tensors of any rank stand beside device tensors

  std::atomic<uint64_t> borrowed{0};
  std::atomic<uint64_t> on_cpu{0};
};

// Never freed, and the same object for the same operator in every thread.
OperatorFacts& facts_of(const c10::OperatorHandle& op);

// Calls `visit` for every operator that facts_of has been asked about.
void for_each_known_operator(const std::function<void(OperatorFacts&)>& visit);

}  // namespace tessiq::pytorch
