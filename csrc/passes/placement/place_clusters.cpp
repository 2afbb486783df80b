// Pass place-clusters: which clusters are worth their crossings between host and device.
//
// Requires:      cluster.
// Guarantees:    where tensors are on the host, no unit is left in a cluster that computes nothing, or, where the
// target
//                weighs crossings, whose work saves less than what it adds in crossings to nodes of the host;
//                tessiq.placement says what was weighed, on every node of a unit that has such neighbours. Where
//                tensors are on the device nothing changes.
// Legal because: a claimed node outside any cluster runs as PyTorch's operator.
// Stops holding when: a node runs correctly on the device alone.
//
// The graph's own inputs and results are not weighed: whoever asked for the device asked for those, and weights stay
// there between calls.
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/placement_cost.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using Members = std::vector<ir::Node*>;

// What placing one unit changes.
struct Balance {
  double saved_us = 0;  // work
  double added_us = 0;  // crossings, less those that go
  int64_t bytes = 0;    // of the values that cross to or from nodes on the host
  int crossings = 0;
  bool has_host_neighbours = false;
  bool computes = false;
};

class PlaceClusters final : public Pass {
 public:
  std::string_view name() const override { return "place-clusters"; }
  std::string_view description() const override {
    return "takes units off the device whose work is worth less than their crossings";
  }

  Result<bool> run(ir::Graph& graph, const TargetOptions& target) override {
    if (target.unclaimed == analysis::UnclaimedPlace::kDevice) {
      return false;
    }
    bool changed = false;
    // A unit that goes makes hosts of its neighbours' neighbours: asked again until all stay.
    for (bool dropped = true; dropped;) {
      dropped = false;
      std::map<int64_t, Members> clusters;
      for (const auto& node : graph.nodes()) {
        if (const auto cluster = analysis::cluster_of(*node)) {
          clusters[*cluster].push_back(node.get());
        }
      }
      for (const auto& [cluster, members] : clusters) {
        const Balance balance = weigh(graph, cluster, members);
        const bool is_worth_it =
            !target.weighs_crossings || !balance.has_host_neighbours || balance.saved_us >= balance.added_us;
        const bool pays = balance.computes && is_worth_it;
        changed |= record(members, balance, pays, target.weighs_crossings);
        dropped |= !pays;
      }
    }
    return number(graph) || changed;
  }

 private:
  static bool is_on_host(const ir::Node& node) { return !analysis::cluster_of(node).has_value(); }

  static void add_crossing(Balance& balance, const ir::Graph& graph, const ir::Value& value, bool is_on_device) {
    const int64_t bytes = analysis::bytes_of(value, graph);
    const double cost = analysis::crossing_us(bytes);
    balance.added_us += is_on_device ? cost : -cost;
    if (is_on_device) {
      balance.bytes += bytes;
      ++balance.crossings;
    }
  }

  static Balance weigh(const ir::Graph& graph, int64_t cluster, const Members& members) {
    const std::vector<const ir::Node*> unit(members.begin(), members.end());
    const analysis::Cost cost = analysis::cost_of(unit, graph);
    Balance balance{.saved_us = cost.host_us - cost.device_us, .computes = cost.host_us > 0};
    std::set<const ir::Value*> read;
    for (const ir::Node* node : members) {
      for (const ir::Value* operand : node->operands()) {
        const ir::Node* producer = operand->producer();
        if (producer == nullptr || analysis::cluster_of(*producer) == cluster || !read.insert(operand).second) {
          continue;
        }
        balance.has_host_neighbours |= is_on_host(*producer);
        add_crossing(balance, graph, *operand, is_on_host(*producer));
      }
      for (int index = 0; index < node->result_count(); ++index) {
        add_readers(balance, graph, cluster, *node->result(index));
      }
    }
    return balance;
  }

  // A result crosses once, however many read it there.
  static void add_readers(Balance& balance, const ir::Graph& graph, int64_t cluster, const ir::Value& value) {
    bool on_host = false;
    bool in_other_unit = false;
    for (const ir::Use& use : value.uses()) {
      on_host |= is_on_host(*use.node);
      in_other_unit |= !is_on_host(*use.node) && analysis::cluster_of(*use.node) != cluster;
    }
    balance.has_host_neighbours |= on_host;
    if (on_host && !graph.is_result(&value)) {
      add_crossing(balance, graph, value, true);
    }
    if (in_other_unit) {
      add_crossing(balance, graph, value, false);
    }
  }

  static bool record(const Members& members, const Balance& balance, bool pays, bool weighs) {
    bool changed = false;
    for (ir::Node* node : members) {
      if ((balance.has_host_neighbours && weighs) || !pays) {
        changed |= node->set_attribute(analysis::kPlacementAttribute, sentence(balance, pays));
      }
      changed |= !pays && node->remove_attribute(analysis::kClusterAttribute);
    }
    return changed;
  }

  static std::string sentence(const Balance& balance, bool pays) {
    if (!balance.computes) {
      return std::string(analysis::kNothingToCompute) +
             ": supported, but its unit only moves or fills values, so it runs where its readers do";
    }
    const auto whole = [](double us) { return std::to_string(std::llround(us)); };
    return std::string(pays ? analysis::kWorthCrossing : analysis::kNotWorthCrossing) +
           ": supported; its unit would save " + whole(balance.saved_us) + " us of work and add " +
           whole(balance.added_us) + " us of crossings (" + std::to_string(balance.crossings) + " values, " +
           std::to_string(balance.bytes) + " bytes)";
  }

  // In list order without gaps, as readers of the text expect.
  static bool number(ir::Graph& graph) {
    std::map<int64_t, int64_t> numbers;
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      if (const auto cluster = analysis::cluster_of(*node)) {
        const auto fresh = numbers.try_emplace(*cluster, static_cast<int64_t>(numbers.size())).first->second;
        changed |= node->set_attribute(analysis::kClusterAttribute, fresh);
      }
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(PlaceClusters);

}  // namespace
}  // namespace tessiq::passes
