// Pass cluster: which claimed nodes run on the device together, if they do.
//
// Requires:      mark-supported, layout-assign.
// Guarantees:    exactly the claimed nodes have tessiq.cluster, numbered in list order; the graph of clusters and other
//                nodes has no cycle.
// Legal because: it records; a graph of units without cycles has an order in which each unit runs in one piece.
// Stops holding when: an edge is not an operand: an effect that orders nodes without a value between them.
#include <vector>

#include "analysis/decisions.h"
#include "analysis/unit_graph.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::UnitGraph;

struct Edge {
  size_t producer = 0;
  size_t consumer = 0;
};

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

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    UnitGraph units(graph);
    merge_neighbours(units);
    std::vector<int64_t> cluster(units.node_count(), -1);  // by unit
    int64_t next = 0;
    size_t index = 0;
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      const size_t unit = units.unit_of(index++);
      if (!analysis::is_supported(*node)) {
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
