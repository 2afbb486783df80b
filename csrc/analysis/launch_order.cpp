// A topological sort of the units, each as near to its place in the list as its operands allow.
#include "analysis/launch_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "analysis/effects.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

bool writes(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->effects == optable::Effects::kWrites;
}

class Order {
 public:
  explicit Order(const UnitGraph& units) : units_(units), after_(units.node_count()), before_(units.node_count(), 0) {
    for (size_t node = 0; node < units.node_count(); ++node) {
      members_[units.unit_of(node)].push_back(node);
    }
  }

  bool is_already() const {
    for (size_t node = 0; node < units_.node_count(); ++node) {
      const std::vector<size_t>& members = members_.at(units_.unit_of(node));
      const std::vector<size_t>& readers = units_.consumers(node);
      const bool early = std::any_of(readers.begin(), readers.end(), [&](size_t reader) {
        return units_.unit_of(reader) != units_.unit_of(node) && reader < members.back();
      });
      if (early) {
        return false;
      }
    }
    return true;
  }

  // Empty where the units cannot be put in an order.
  std::vector<size_t> sorted() {
    add_edges();
    std::priority_queue<std::pair<size_t, size_t>, std::vector<std::pair<size_t, size_t>>, std::greater<>> ready;
    auto offer = [&](size_t unit) {
      if (before_[unit] == 0) {
        ready.emplace(members_.at(unit).back(), unit);
      }
    };
    for (size_t node = 0; node < units_.node_count(); ++node) {
      if (members_.at(units_.unit_of(node)).front() == node) {
        offer(units_.unit_of(node));
      }
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t unit = ready.top().second;
      ready.pop();
      const std::vector<size_t>& members = members_.at(unit);
      order.insert(order.end(), members.begin(), members.end());
      for (const size_t next : after_[unit]) {
        --before_[next];
        offer(next);
      }
    }
    return order.size() == units_.node_count() ? order : std::vector<size_t>();
  }

 private:
  void add_edge(size_t first, size_t second) {
    const size_t from = units_.unit_of(first);
    const size_t to = units_.unit_of(second);
    if (from != to) {
      after_[from].push_back(to);
      ++before_[to];
    }
  }

  void add_edges() {
    size_t last_effect = units_.node_count();
    size_t last_write = units_.node_count();
    for (size_t node = 0; node < units_.node_count(); ++node) {
      for (const size_t producer : units_.producers(node)) {
        add_edge(producer, node);
      }
      if (last_write != units_.node_count()) {
        add_edge(last_write, node);
      }
      if (is_pure(units_.node(node))) {
        continue;
      }
      if (last_effect != units_.node_count()) {
        add_edge(last_effect, node);
      }
      last_effect = node;
      if (writes(units_.node(node))) {
        for (size_t earlier = 0; earlier < node; ++earlier) {
          add_edge(earlier, node);
        }
        last_write = node;
      }
    }
  }

  const UnitGraph& units_;
  std::unordered_map<size_t, std::vector<size_t>> members_;  // by unit, in list order; never iterated
  std::vector<std::vector<size_t>> after_;                   // by unit
  std::vector<size_t> before_;                               // by unit: edges into it that have not been followed
};

}  // namespace

bool order_for_launches(ir::Graph& graph, const UnitGraph& units) {
  Order order(units);
  if (order.is_already()) {
    return true;
  }
  const std::vector<size_t> sorted = order.sorted();
  if (sorted.empty()) {
    return false;
  }
  std::vector<ir::Node*> nodes;
  for (const auto& node : graph.nodes()) {
    nodes.push_back(node.get());
  }
  // From the end, each before the one that follows it; so the last ends up behind all others.
  ir::Node* next = nodes[sorted.back()];
  for (size_t k = sorted.size() - 1; k-- > 0;) {
    graph.move_before(nodes[sorted[k]], next);
    next = nodes[sorted[k]];
  }
  return true;
}

}  // namespace tessiq::analysis
