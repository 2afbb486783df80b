// Where the buffers of a call's arena lie, worked out once for each set of sizes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "analysis/memory_plan.h"
#include "program/program.h"

namespace tessiq::pytorch {

class ArenaPlans {
 public:
  // `program` outlives this object.
  explicit ArenaPlans(const program::Program& program);

  // `sizes` are the call's values of the size table. Safe to call from several threads.
  std::shared_ptr<const analysis::MemoryPlan> for_sizes(const std::vector<int64_t>& sizes);

 private:
  // Planning takes longer than a small call, and calls come back to the same few sizes.
  static constexpr size_t kRemembered = 32;

  const program::Program& program_;
  std::shared_ptr<const analysis::MemoryPlan> constant_;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::shared_ptr<const analysis::MemoryPlan>> plans_;
};

}  // namespace tessiq::pytorch
