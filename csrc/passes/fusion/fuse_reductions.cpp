// Pass fuse-reductions: which loops a reduction is computed with, and which reductions together.
//
// Requires:      fuse-elementwise.
// Guarantees:    every claimed reduction that somebody reads has tessiq.group; the members of a group with a reduction
//                have a row space, and no reader outside stands before the last of them.
// Legal because: every member's value at a position depends on values at that position and on what was combined of the
//                same row, and the graph of units stays free of cycles. Nodes move only past others that neither read
//                them nor have effects on what they read.
// Stops holding when: a kernel walks the rows in an order that another row depends on.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/launch_order.h"
#include "analysis/row_space.h"
#include "analysis/unit_graph.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::UnitGraph;

// Tensors a kernel reads and writes: their strides have to fit the parameters of a launch.
constexpr size_t kMaxTensors = 48;
// Rows walked several times are not split over the processors, so that a few long ones would leave most of them idle.
constexpr int64_t kFewRows = 32;
constexpr int64_t kLongRow = 8192;

bool is_reduction(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->is_reduction();
}

bool is_read(const ir::Graph& graph, const ir::Node& node) {
  return !node.result()->uses().empty() || graph.is_result(node.result());
}

// Known extents multiplied out, with symbols counted as one.
std::pair<int64_t, int64_t> rows_and_length(const analysis::RowSpace& space) {
  int64_t rows = 1;
  int64_t length = 1;
  for (size_t axis = 0; axis < space.shape.size(); ++axis) {
    if (space.shape[axis].is_known()) {
      (space.reduced[axis] != 0 ? length : rows) *= std::max<int64_t>(space.shape[axis].known(), 1);
    }
  }
  return {rows, length};
}

bool pays(const analysis::RowSpace& space) {
  if (space.inputs.size() + space.outputs.size() > kMaxTensors) {
    return false;
  }
  if (space.walks == 1) {
    return true;
  }
  const auto [rows, length] = rows_and_length(space);
  const bool rows_known =
      std::all_of(space.shape.begin(), space.shape.end(), [](const ir::Extent& extent) { return extent.is_known(); });
  return analysis::reduces_neighbours(space) && !(rows_known && rows < kFewRows && length > kLongRow);
}

class Groups {
 public:
  explicit Groups(ir::Graph& graph) : graph_(graph), units_(graph) {
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

  void merge_all() {
    for (bool merged = true; merged;) {
      merged = merge_neighbours();
      merged |= merge_siblings();
    }
  }

  Result<bool> record() {
    bool changed = false;
    std::vector<ir::Node*> before;
    for (const auto& node : graph_.nodes()) {
      before.push_back(node.get());
    }
    if (!analysis::order_for_launches(graph_, units_)) {
      return false;
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
    return changed;
  }

 private:
  // A group is one unit again, though two of its nodes may be joined only once those between them are.
  void gather(const std::vector<size_t>& members) {
    for (bool progress = true; progress;) {
      progress = false;
      for (const size_t member : members) {
        const bool apart = units_.unit_of(member) != units_.unit_of(members.front());
        progress |= apart && units_.merge(member, members.front());
      }
    }
  }

  bool merge_neighbours() {
    bool merged = false;
    for (size_t consumer = 0; consumer < units_.node_count(); ++consumer) {
      const std::vector<size_t> producers = units_.producers(consumer);
      for (auto producer = producers.rbegin(); producer != producers.rend(); ++producer) {
        const bool together =
            analysis::cluster_of(units_.node(*producer)) == analysis::cluster_of(units_.node(consumer));
        merged |= together && merge(*producer, consumer);
      }
    }
    return merged;
  }

  // Reductions of one operand read it once. Nothing else connects them, so their clusters may differ.
  bool merge_siblings() {
    bool merged = false;
    std::map<const ir::Value*, std::vector<size_t>> readers_of;  // never iterated
    for (size_t index = 0; index < units_.node_count(); ++index) {
      if (grouped_[index] == 0) {
        continue;
      }
      for (const ir::Value* operand : units_.node(index).operands()) {
        std::vector<size_t>& readers = readers_of[operand];
        for (const size_t reader : readers) {
          merged |= merge(reader, index);
        }
        readers.push_back(index);
      }
    }
    return merged;
  }

  bool merge(size_t a, size_t b) {
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
    if (std::none_of(nodes.begin(), nodes.end(), [](const ir::Node* node) { return is_reduction(*node); })) {
      return false;
    }
    const auto space = analysis::row_space(graph_, nodes);
    return space && pays(*space) && units_.merge(a, b);
  }

  ir::Graph& graph_;
  UnitGraph units_;
  std::vector<char> grouped_;  // by node: whether a kernel of ours computes it
};

class FuseReductions final : public Pass {
 public:
  std::string_view name() const override { return "fuse-reductions"; }
  std::string_view description() const override { return "joins reductions with the loops before and after them"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    Groups joined(graph);
    joined.merge_all();
    TESSIQ_ASSIGN_OR_RETURN(const bool changed, joined.record());
    if (changed || is_numbered(graph)) {
      return changed;
    }
    Groups apart(graph);  // no order of the joined ones exists: each reduction is a kernel of its own
    return apart.record();
  }

 private:
  static bool is_numbered(const ir::Graph& graph) {
    return std::all_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) {
      return !is_reduction(*node) || !analysis::cluster_of(*node) || !is_read(graph, *node) ||
             analysis::group_of(*node).has_value();
    });
  }
};

TESSIQ_REGISTER_PASS(FuseReductions);

}  // namespace
}  // namespace tessiq::passes
