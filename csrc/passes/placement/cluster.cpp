// Pass cluster: which claimed nodes run on the device together.
//
// Requires:      mark-supported, layout-assign.
// Guarantees:    a claimed node has tessiq.cluster, numbered in list order, unless its unit computes nothing and would
//                cross to the device for it; the graph of clusters and other nodes has no cycle.
// Legal because: it records; a graph of units without cycles has an order in which each unit runs in one piece.
// Stops holding when: an edge is not an operand: an effect that orders nodes without a value between them.
#include <vector>

#include "analysis/decisions.h"
#include "analysis/unit_graph.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::UnitGraph;

struct Edge {
  size_t producer = 0;
  size_t consumer = 0;
};

// Views and fills are as cheap where their readers are; crossing for one is a transfer for no work.
bool computes(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op == nullptr ||
         (op->category != optable::Category::kMovement && op->category != optable::Category::kCreation);
}

// A refused merge may become legal once the units on the path between have joined one of its ends, so refused edges are
// tried again while others merge. Consumers in list order, nearest producer first, leaves little for a second round.
void merge_neighbours(UnitGraph& units) {
  std::vector<Edge> edges;
  for (size_t consumer = 0; consumer < units.node_count(); ++consumer) {
    const std::vector<size_t>& producers = units.producers(consumer);
    for (auto producer = producers.rbegin(); producer != producers.rend(); ++producer) {
      if (analysis::is_supported(units.node(consumer)) && analysis::is_supported(units.node(*producer))) {
        edges.push_back({*producer, consumer});
      }
    }
  }
  for (bool merged = true; merged;) {
    std::vector<Edge> refused;
    for (const Edge& edge : edges) {
      if (!units.merge(edge.producer, edge.consumer)) {
        refused.push_back(edge);
      }
    }
    merged = refused.size() < edges.size();
    edges = std::move(refused);
  }
}

class Cluster final : public Pass {
 public:
  std::string_view name() const override { return "cluster"; }
  std::string_view description() const override {
    return "groups neighbouring claimed nodes into units that run on the device";
  }

  Result<bool> run(ir::Graph& graph, const TargetOptions& target) override {
    UnitGraph units(graph);
    merge_neighbours(units);
    std::vector<char> placed(units.node_count(), 0);
    for (size_t index = 0; index < units.node_count(); ++index) {
      const ir::Node& node = units.node(index);
      const bool pays = target.unclaimed == analysis::UnclaimedPlace::kDevice || computes(node);
      if (analysis::is_supported(node) && pays) {
        placed[units.unit_of(index)] = 1;
      }
    }
    return number(graph, units, placed);
  }

 private:
  static bool number(ir::Graph& graph, const UnitGraph& units, const std::vector<char>& placed) {
    std::vector<int64_t> cluster(units.node_count(), -1);  // by unit
    int64_t next = 0;
    size_t index = 0;
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      const size_t unit = units.unit_of(index++);
      if (placed[unit] == 0) {
        changed |= node->remove_attribute(analysis::kClusterAttribute);
        continue;
      }
      if (cluster[unit] < 0) {
        cluster[unit] = next++;
      }
      changed |= node->set_attribute(analysis::kClusterAttribute, cluster[unit]);
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(Cluster);

}  // namespace
}  // namespace tessiq::passes
