// Runs a program: one call, in order, with nothing decided here that the program decides.
//
// Safe to call from several threads; each call has its own registers.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "codegen/loaded_kernel.h"
#include "program/program.h"
#include "pytorch/executor/arena_plans.h"
#include "pytorch/executor/arguments.h"
#include "pytorch/executor/kept_inputs.h"
#include "pytorch/executor/registers.h"

namespace tessiq::pytorch {

// A call's argument or result: a tensor, an integer, or nothing.
using CallValue = std::variant<std::monostate, at::Tensor, int64_t>;

// What calls of one executor have done so far. For tests, explain and the proof that work ran on the device.
struct ExecutorCounters {
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> library_calls{0};
  std::atomic<int64_t> dispatches_on_device{0};
  std::atomic<int64_t> dispatches_on_host{0};
  std::atomic<int64_t> copies_to_device{0};
  std::atomic<int64_t> copies_to_host{0};
  std::atomic<int64_t> bytes_to_device{0};
  std::atomic<int64_t> bytes_to_host{0};
};

class Executor {
 public:
  // `kernels` are the program's, loaded for `device`; both outlive this. Raises where the program names an operator
  // that does not exist.
  Executor(const program::Program& program, const std::vector<std::shared_ptr<codegen::LoadedKernel>>& kernels,
           DeviceIndex device, std::vector<bool> kept_inputs);

  // `arguments` is taken over, so that an argument dies as soon as nothing reads it any more.
  std::vector<CallValue> run(std::vector<CallValue> arguments);

  const ExecutorCounters& counters() const { return counters_; }
  const KeptInputs& kept_inputs() const { return kept_; }
  KeptInputs& kept_inputs() { return kept_; }

 private:
  friend struct Step;

  const program::Program& program_;
  const std::vector<std::shared_ptr<codegen::LoadedKernel>>& kernels_;
  std::vector<std::unique_ptr<PreparedCall>> calls_;  // by instruction, null for other kinds
  DeviceIndex device_;
  Places places_;
  // Off where the allocator guards each block by itself: in one arena an overrun would reach a neighbour unseen.
  bool has_arena_;
  // TESSIQ_ARENA_POISON=1: memory of the arena that nothing may read holds NaN, so that a read of it shows.
  bool poison_;
  ArenaPlans arena_plans_;
  KeptInputs kept_;
  ExecutorCounters counters_;
};

}  // namespace tessiq::pytorch
