// What a library was asked once and answers the same again: a bounded table from a problem to its plan.
//
// Private to libraries/. Safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessiq::libraries {

// Everything a plan depends on, as numbers.
template <size_t kNumbers>
using PlanKey = std::array<int64_t, kNumbers>;

// The oldest entry goes first: a model with changing sizes makes a new problem every call, and a lost plan costs one
// question to the library.
template <typename Key, typename Plan>
class PlanCache {
 public:
  std::optional<Plan> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(key);
    return found == plans_.end() ? std::nullopt : std::optional<Plan>(found->second);
  }

  void set(const Key& key, Plan plan) {
    const std::lock_guard lock(mutex_);
    if (!plans_.insert_or_assign(key, std::move(plan)).second) {
      return;
    }
    order_.push_back(key);
    if (order_.size() > kMostPlans) {
      plans_.erase(order_.front());
      order_.pop_front();
    }
  }

 private:
  static constexpr size_t kMostPlans = 4096;

  struct Hash {
    size_t operator()(const Key& key) const { return XXH3_64bits(key.data(), sizeof(key)); }
  };

  std::mutex mutex_;
  std::unordered_map<Key, Plan, Hash> plans_;
  std::deque<Key> order_;
};

}  // namespace tessiq::libraries
