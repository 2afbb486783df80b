// A merge of u and v, u before v in the order, looks at the units between them. Walking forward from u, those it
// reaches move behind the merged unit and the rest stay before it; walking backward from v, those that reach it stay
// before and the rest move behind. No unit that u reaches leads to one that it does not, so the order stays topological
// either way.
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

bool UnitGraph::reaches_only_directly(size_t from, size_t to, Direction direction) {
  const bool forward = direction == Direction::kForward;
  const std::vector<std::vector<size_t>>& edges = forward ? consumers_ : producers_;
  std::vector<size_t> pending{from};
  while (!pending.empty()) {
    const size_t unit = pending.back();
    pending.pop_back();
    for (const size_t member : members_[unit]) {
      for (const size_t neighbour : edges[member]) {
        const size_t next = unit_of_[neighbour];
        if (next == to && unit != from) {
          return false;
        }
        const bool is_between = forward ? order_of_[next] < order_of_[to] : order_of_[next] > order_of_[to];
        if (next != to && next != from && reached_[next] == 0 && is_between) {
          reached_[next] = 1;
          reached_list_.push_back(next);
          pending.push_back(next);
        }
      }
    }
  }
  return true;
}

void UnitGraph::reorder(size_t first, size_t second, size_t kept, Direction direction) {
  const size_t begin = order_of_[first];
  const size_t end = order_of_[second];
  std::vector<size_t> order;
  std::vector<size_t> after;
  for (size_t position = begin; position <= end; ++position) {
    const size_t unit = unit_at_[position];
    if (unit == kGone || unit == first || unit == second) {
      continue;
    }
    const bool comes_before = (reached_[unit] != 0) == (direction == Direction::kBackward);
    (comes_before ? order : after).push_back(unit);
  }
  order.push_back(kept);
  order.insert(order.end(), after.begin(), after.end());
  for (size_t position = begin; position <= end; ++position) {
    const size_t place = position - begin;
    unit_at_[position] = place < order.size() ? order[place] : kGone;
    if (place < order.size()) {
      order_of_[order[place]] = position;
    }
  }
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
  // From the smaller of the two: a unit that grows node by node is not walked again for each.
  const bool from_first = members_[first].size() < members_[second].size();
  const Direction direction = from_first ? Direction::kForward : Direction::kBackward;
  const bool legal = reaches_only_directly(from_first ? first : second, from_first ? second : first, direction);
  if (legal) {
    const size_t kept = from_first ? second : first;
    const size_t gone = from_first ? first : second;
    reorder(first, second, kept, direction);
    for (const size_t member : members_[gone]) {
      unit_of_[member] = kept;
    }
    members_[kept].insert(members_[kept].end(), members_[gone].begin(), members_[gone].end());
    members_[gone].clear();
  }
  for (const size_t unit : reached_list_) {
    reached_[unit] = 0;
  }
  reached_list_.clear();
  return legal;
}

}  // namespace tessiq::analysis
