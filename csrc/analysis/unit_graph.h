// The graph of units: nodes merged two by two, as long as the coarser graph stays free of cycles.
//
// Keeps a topological order of the units, so that a merge is checked and made by looking only at the units that stand
// between the two. Leaves to the caller which merges to ask for.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph.h"

namespace tessiq::analysis {

class UnitGraph {
 public:
  // Every node is a unit of its own. `graph` outlives this and keeps its nodes.
  explicit UnitGraph(const ir::Graph& graph);

  size_t node_count() const { return nodes_.size(); }
  const ir::Node& node(size_t index) const { return *nodes_[index]; }
  const std::vector<size_t>& producers(size_t index) const { return producers_[index]; }  // each once, in list order
  const std::vector<size_t>& consumers(size_t index) const { return consumers_[index]; }  // each once, in list order
  // One of the unit's nodes, which stands for it until the next merge.
  size_t unit_of(size_t index) const { return unit_of_[index]; }
  const std::vector<size_t>& members(size_t unit) const { return members_[unit]; }  // in no particular order

  // Merges the units of two nodes unless that closes a cycle: a path from one to the other through a third. Returns
  // whether they are one unit now.
  bool merge(size_t a, size_t b);

  // Position of a unit in an order in which every unit comes after all it reads.
  size_t order_of(size_t unit) const { return order_of_[unit]; }

 private:
  enum class Direction { kForward, kBackward };
  // Marks in reached_ the units strictly between the two, in order, that `from` reaches in that direction. False where
  // `to` is reached through one of them.
  bool reaches_only_directly(size_t from, size_t to, Direction direction);
  // Puts the merged unit between the units that have to come before it and those that have to come after.
  void reorder(size_t first, size_t second, size_t kept, Direction direction);

  std::vector<const ir::Node*> nodes_;
  std::vector<std::vector<size_t>> producers_;
  std::vector<std::vector<size_t>> consumers_;
  std::vector<size_t> unit_of_;
  std::vector<std::vector<size_t>> members_;
  std::vector<size_t> order_of_;  // by unit
  std::vector<size_t> unit_at_;   // by position; kGone where a merged unit stood
  std::vector<char> reached_;     // by unit; all false between calls
  std::vector<size_t> reached_list_;
};

}  // namespace tessiq::analysis
