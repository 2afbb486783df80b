// The plan of a program whose sizes are constants is the program's own; others are remembered by the sizes.
#include "pytorch/executor/arena_plans.h"

#include "program/arena.h"
#include "pytorch/device/raise.h"

namespace tessiq::pytorch {

ArenaPlans::ArenaPlans(const program::Program& program) : program_(program) {
  if (program.arena.plan) {
    constant_ = std::make_shared<const analysis::MemoryPlan>(*program.arena.plan);
  }
}

std::shared_ptr<const analysis::MemoryPlan> ArenaPlans::for_sizes(const std::vector<int64_t>& sizes) {
  if (constant_ != nullptr) {
    return constant_;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = plans_.find(sizes); known != plans_.end()) {
      return known->second;
    }
  }
  auto plan = std::make_shared<const analysis::MemoryPlan>(value_or_raise(program::plan_arena(program_, sizes)));
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kRemembered) {
    plans_.clear();
  }
  plans_.emplace(sizes, plan);
  return plan;
}

}  // namespace tessiq::pytorch
