// One sweep back over the graph: readers are seen before what they read, so a view's life is known when its source's
// is.
#include "analysis/liveness.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/decisions.h"
#include "analysis/effects.h"

namespace tessiq::analysis {
namespace {

class Liveness {
 public:
  explicit Liveness(const ir::Graph& graph) : graph_(graph) {
    int64_t position = 0;
    for (const auto& node : graph.nodes()) {
      runs_at_[node.get()] = position;
      if (const auto group = group_of(*node)) {
        launch_of_[*group] = position;
      }
      ++position;
    }
    for (const auto& node : graph.nodes()) {
      if (const auto group = group_of(*node)) {
        runs_at_[node.get()] = launch_of_[*group];
      }
    }
  }

  std::vector<StorageRange> run() {
    std::vector<StorageRange> ranges;
    for (auto it = graph_.nodes().rbegin(); it != graph_.nodes().rend(); ++it) {
      const ir::Node& node = **it;
      const bool ours = is_supported(node) && !may_keep_operands(node);
      for (int i = node.result_count() - 1; i >= 0; --i) {
        const StorageRange range = range_of(*node.result(i), runs_at_[&node]);
        range_of_[node.result(i)] = range;
        if (ours && !stays_in_loop(*node.result(i))) {
          ranges.push_back(range);
        }
      }
    }
    std::reverse(ranges.begin(), ranges.end());
    return ranges;
  }

 private:
  StorageRange range_of(const ir::Value& value, int64_t written) const {
    StorageRange range{&value, written, written, graph_.is_result(&value)};
    for (const ir::Use& use : value.uses()) {
      range.last = std::max(range.last, runs_at_.at(use.node));
      for (int i = 0; may_keep_operands(*use.node) && i < use.node->result_count(); ++i) {
        const StorageRange& view = range_of_.at(use.node->result(i));
        range.last = std::max(range.last, view.last);
        range.escapes = range.escapes || view.escapes;
      }
    }
    return range;
  }

  bool stays_in_loop(const ir::Value& value) const {
    const auto group = group_of(*value.producer());
    return group && !value.uses().empty() && !graph_.is_result(&value) &&
           std::all_of(value.uses().begin(), value.uses().end(),
                       [&](const ir::Use& use) { return group_of(*use.node) == group; });
  }

  const ir::Graph& graph_;
  // Looked up and never iterated.
  std::unordered_map<const ir::Node*, int64_t> runs_at_;
  std::unordered_map<const ir::Value*, StorageRange> range_of_;
  std::map<int64_t, int64_t> launch_of_;
};

}  // namespace

std::vector<StorageRange> storage_ranges(const ir::Graph& graph) { return Liveness(graph).run(); }

}  // namespace tessiq::analysis
