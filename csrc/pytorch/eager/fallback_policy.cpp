// The mode is process-wide; the ledger lives in each operator's facts.
#include "pytorch/eager/fallback_policy.h"

#include <atomic>
#include <functional>

#include "pytorch/eager/operator_facts.h"

namespace tessiq::pytorch {
namespace {

std::atomic<FallbackMode> current_mode{FallbackMode::kBorrow};

}  // namespace

FallbackMode fallback_mode() { return current_mode.load(std::memory_order_relaxed); }
void set_fallback_mode(FallbackMode mode) { current_mode.store(mode, std::memory_order_relaxed); }

std::map<std::string, FallbackCounts> fallback_counts() {
  std::map<std::string, FallbackCounts> counts;
  for_each_known_operator([&](OperatorFacts& facts) {
    const FallbackCounts found{facts.borrowed.load(), facts.on_cpu.load()};
    if (found.borrow != 0 || found.cpu != 0) {
      counts[facts.name].borrow += found.borrow;
      counts[facts.name].cpu += found.cpu;
    }
  });
  return counts;
}

void reset_fallback_counts() {
  for_each_known_operator([](OperatorFacts& facts) {
    facts.borrowed = 0;
    facts.on_cpu = 0;
  });
}

}  // namespace tessiq::pytorch
