// Fusion groups joined two by two: the graph of units, who is in a group, and the order of nodes that the groups need.
//
// Leaves to each pass which groups it joins. Private to passes/fusion/.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/unit_graph.h"
#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::passes {

bool is_reduction(const ir::Node& node);
// A loop of ours computes it, in a cluster; where it is inlined, nothing does.
bool is_loop(const ir::Node& node);
// Somebody reads its result, or it is one of the graph's.
bool is_read(const ir::Graph& graph, const ir::Node& node);

// Whether one kernel computes the nodes, in list order: a loop, or rows with a reduction among them; and whether it is
// a good one.
bool is_one_loop(const ir::Graph& graph, std::span<const ir::Node* const> nodes);
bool is_one_row_kernel(const ir::Graph& graph, std::span<const ir::Node* const> nodes);

class Groups {
 public:
  // Whether the nodes of two groups, in list order, are to be one.
  using Joins = std::function<bool(std::span<const ir::Node* const>)>;

  // The groups recorded so far, and each claimed reduction without one as a group of its own. `graph` outlives this.
  explicit Groups(ir::Graph& graph);

  // Joins groups of one cluster, a producer and its reader, as long as there is such a pair.
  bool join_neighbours(const Joins& joins);
  // Joins groups that read one value for which `shares` holds, of whatever clusters.
  bool join_siblings(const Joins& joins, const std::function<bool(const ir::Value&)>& shares);
  // Joins groups that nothing connects, each of at most `most` nodes for which `suits` holds, where the two stand at
  // most `distance` nodes apart.
  bool join_near(const Joins& joins, const std::function<bool(const ir::Node&)>& suits, size_t distance, size_t most);
  // Numbers the groups and moves nodes so that each can be computed at its last one. False where nothing changed;
  // nothing where there is no such order, and the graph is as it was.
  Result<std::optional<bool>> record();

 private:
  void gather(const std::vector<size_t>& members);
  bool join(size_t a, size_t b, const Joins& joins);

  ir::Graph& graph_;
  analysis::UnitGraph units_;
  std::vector<char> grouped_;  // by node: whether a kernel of ours computes it
};

}  // namespace tessiq::passes
