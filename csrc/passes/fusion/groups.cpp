#include "passes/fusion/groups.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "analysis/decisions.h"
#include "analysis/launch_order.h"
#include "optable/lookup.h"

namespace tessiq::passes {

bool is_reduction(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->is_reduction();
}

bool is_loop(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->is_loop() && node.result_count() == 1 && analysis::is_supported(node) &&
         analysis::cluster_of(node).has_value();
}

bool is_read(const ir::Graph& graph, const ir::Node& node) {
  return !node.result()->uses().empty() || graph.is_result(node.result());
}

Groups::Groups(ir::Graph& graph) : graph_(graph), units_(graph) {
  std::map<int64_t, std::vector<size_t>> members;
  for (size_t index = 0; index < units_.node_count(); ++index) {
    const ir::Node& node = units_.node(index);
    const std::optional<int64_t> group = analysis::group_of(node);
    const bool alone = !group && is_reduction(node) && analysis::cluster_of(node) && is_read(graph, node);
    grouped_.push_back(group.has_value() || alone ? 1 : 0);
    if (group) {
      members[*group].push_back(index);
    }
  }
  for (const auto& [group, list] : members) {
    gather(list);
  }
}

// A group is one unit again, though two of its nodes may be joined only once those between them are.
void Groups::gather(const std::vector<size_t>& members) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const size_t member : members) {
      const bool apart = units_.unit_of(member) != units_.unit_of(members.front());
      progress |= apart && units_.merge(member, members.front());
    }
  }
}

bool Groups::join_neighbours(const Joins& joins) {
  bool joined = false;
  for (size_t consumer = 0; consumer < units_.node_count(); ++consumer) {
    const std::vector<size_t> producers = units_.producers(consumer);
    for (auto producer = producers.rbegin(); producer != producers.rend(); ++producer) {
      const bool together = analysis::cluster_of(units_.node(*producer)) == analysis::cluster_of(units_.node(consumer));
      joined |= together && join(*producer, consumer, joins);
    }
  }
  return joined;
}

bool Groups::join_siblings(const Joins& joins, const std::function<bool(const ir::Value&)>& shares) {
  bool joined = false;
  std::map<const ir::Value*, std::vector<size_t>> readers_of;  // never iterated
  for (size_t index = 0; index < units_.node_count(); ++index) {
    if (grouped_[index] == 0) {
      continue;
    }
    for (const ir::Value* operand : units_.node(index).operands()) {
      if (!shares(*operand)) {
        continue;
      }
      std::vector<size_t>& readers = readers_of[operand];
      for (const size_t reader : readers) {
        joined |= join(reader, index, joins);
      }
      readers.push_back(index);
    }
  }
  return joined;
}

bool Groups::join_near(const Joins& joins, const std::function<bool(const ir::Node&)>& suits, size_t distance,
                       size_t most) {
  bool joined = false;
  std::deque<size_t> recent;
  for (size_t index = 0; index < units_.node_count(); ++index) {
    if (grouped_[index] == 0 || !suits(units_.node(index))) {
      continue;
    }
    while (!recent.empty() && index - recent.front() > distance) {
      recent.pop_front();
    }
    for (const size_t earlier : recent) {
      const size_t members =
          units_.members(units_.unit_of(earlier)).size() + units_.members(units_.unit_of(index)).size();
      joined |= members <= most && join(earlier, index, joins);
    }
    recent.push_back(index);
  }
  return joined;
}

bool Groups::join(size_t a, size_t b, const Joins& joins) {
  if (grouped_[a] == 0 || grouped_[b] == 0 || units_.unit_of(a) == units_.unit_of(b)) {
    return false;
  }
  std::vector<size_t> members = units_.members(units_.unit_of(a));
  const std::vector<size_t>& others = units_.members(units_.unit_of(b));
  members.insert(members.end(), others.begin(), others.end());
  std::sort(members.begin(), members.end());
  std::vector<const ir::Node*> nodes;
  for (const size_t member : members) {
    nodes.push_back(&units_.node(member));
  }
  return joins(nodes) && units_.merge(a, b);
}

Result<std::optional<bool>> Groups::record() {
  bool changed = false;
  std::vector<ir::Node*> before;
  for (const auto& node : graph_.nodes()) {
    before.push_back(node.get());
  }
  if (!analysis::order_for_launches(graph_, units_)) {
    return std::optional<bool>();
  }
  std::map<const ir::Node*, size_t> index_of;  // never iterated
  for (size_t index = 0; index < units_.node_count(); ++index) {
    index_of[&units_.node(index)] = index;
  }
  std::map<size_t, int64_t> number_of;
  size_t position = 0;
  for (const auto& node : graph_.nodes()) {
    changed |= node.get() != before[position++];
    const size_t index = index_of.at(node.get());
    if (grouped_[index] != 0) {
      const auto [found, added] = number_of.emplace(units_.unit_of(index), static_cast<int64_t>(number_of.size()));
      changed |= node->set_attribute(analysis::kGroupAttribute, found->second);
    }
  }
  return std::optional(changed);
}

}  // namespace tessiq::passes
