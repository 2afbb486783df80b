// A merge of u and v, u before v in the order, looks at the units between them: those u reaches move behind the merged
// unit, the rest stay before it. No unit that u reaches leads to one that it does not, so the order stays topological.
#include "analysis/unit_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace tessiq::analysis {
namespace {

constexpr size_t kGone = std::numeric_limits<size_t>::max();

void keep_each_once(std::vector<size_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

UnitGraph::UnitGraph(const ir::Graph& graph) {
  std::unordered_map<const ir::Node*, size_t> index_of;
  for (const auto& node : graph.nodes()) {
    index_of.emplace(node.get(), nodes_.size());
    nodes_.push_back(node.get());
  }
  const size_t count = nodes_.size();
  producers_.resize(count);
  consumers_.resize(count);
  for (size_t index = 0; index < count; ++index) {
    for (const ir::Value* operand : nodes_[index]->operands()) {
      if (!operand->is_parameter()) {
        producers_[index].push_back(index_of.at(operand->producer()));
      }
    }
    keep_each_once(producers_[index]);
    for (const size_t producer : producers_[index]) {
      consumers_[producer].push_back(index);
    }
  }
  // List order is topological.
  unit_of_.resize(count);
  std::iota(unit_of_.begin(), unit_of_.end(), size_t{0});
  order_of_ = unit_of_;
  unit_at_ = unit_of_;
  reached_.assign(count, 0);
  for (size_t index = 0; index < count; ++index) {
    members_.push_back({index});
  }
}

bool UnitGraph::reaches_only_directly(size_t from, size_t to) {
  std::vector<size_t> pending{from};
  while (!pending.empty()) {
    const size_t unit = pending.back();
    pending.pop_back();
    for (const size_t member : members_[unit]) {
      for (const size_t consumer : consumers_[member]) {
        const size_t next = unit_of_[consumer];
        if (next == to && unit != from) {
          return false;
        }
        if (next != to && next != from && reached_[next] == 0 && order_of_[next] < order_of_[to]) {
          reached_[next] = 1;
          reached_list_.push_back(next);
          pending.push_back(next);
        }
      }
    }
  }
  return true;
}

bool UnitGraph::merge(size_t a, size_t b) {
  size_t first = unit_of_[a];
  size_t second = unit_of_[b];
  if (first == second) {
    return true;
  }
  if (order_of_[first] > order_of_[second]) {
    std::swap(first, second);
  }
  const bool legal = reaches_only_directly(first, second);
  if (legal) {
    const size_t begin = order_of_[first];
    const size_t end = order_of_[second];
    // The representative is the first node in list order.
    const size_t kept = std::min(first, second);
    const size_t gone = std::max(first, second);
    std::vector<size_t> before;
    std::vector<size_t> after;
    for (size_t position = begin; position <= end; ++position) {
      const size_t unit = unit_at_[position];
      if (unit != kGone && unit != first && unit != second) {
        (reached_[unit] != 0 ? after : before).push_back(unit);
      }
    }
    for (const size_t member : members_[gone]) {
      unit_of_[member] = kept;
    }
    members_[kept].insert(members_[kept].end(), members_[gone].begin(), members_[gone].end());
    members_[gone].clear();
    before.push_back(kept);
    before.insert(before.end(), after.begin(), after.end());
    for (size_t position = begin; position <= end; ++position) {
      const size_t place = position - begin;
      unit_at_[position] = place < before.size() ? before[place] : kGone;
      if (place < before.size()) {
        order_of_[before[place]] = position;
      }
    }
  }
  for (const size_t unit : reached_list_) {
    reached_[unit] = 0;
  }
  reached_list_.clear();
  return legal;
}

}  // namespace tessiq::analysis
