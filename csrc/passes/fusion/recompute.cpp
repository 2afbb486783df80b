// Pass recompute: which values each kernel that reads them computes for itself, instead of one writing them for all.
//
// Requires:      fuse-loops.
// Guarantees:    a value that kernels read and none writes any more has a copy of the nodes that compute it in each of
//                their groups; every group is still one loop or one row kernel. Nodes that nobody reads are gone.
// Legal because: the nodes are pure, what they read is defined before the group that computed them is launched, and
//                nothing is written between that and the launch of the group that reads them.
// Stops holding when: a node's result depends on anything but its operands.
//
// Weighed in time: what goes is one write of the value, the reads of it, and the whole kernel where it computed nothing
// else; what comes is the reads of what it is computed from, and its instructions once more for every element and walk.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/effects.h"
#include "analysis/placement_cost.h"
#include "analysis/row_space.h"
#include "optable/lookup.h"
#include "passes/fusion/groups.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// A longer chain is worth its memory, and would be compiled into every reader.
constexpr size_t kMostNodes = 8;

using Members = std::vector<ir::Node*>;
using GroupMembers = std::map<int64_t, Members>;  // in list order
// How many nodes that may write stand before a group is launched.
using Writes = std::map<int64_t, int>;

bool contains(const Members& members, const ir::Node* node) {
  return std::find(members.begin(), members.end(), node) != members.end();
}

// A value and the nodes of its group that it alone is computed by, operands first.
struct Slice {
  Members nodes;
  std::vector<ir::Value*> inputs;  // each once
};

// A reader's group with the operands that are to read copies.
struct Reader {
  Members members;
  std::vector<ir::Use> uses;
};

class Rewrite {
 public:
  Rewrite(ir::Graph& graph, GroupMembers& groups, const Writes& writes, ir::Node& producer)
      : graph_(graph), groups_(groups), writes_(writes), producer_(producer) {}

  // Whether copies took the value's place. The nodes that nobody reads any more, readers first, are the caller's to
  // erase.
  bool apply() {
    const int64_t group = *analysis::group_of(producer_);
    if (!may_be_copied(producer_) || graph_.is_result(producer_.result()) || !find_readers(group)) {
      return false;
    }
    own_ = groups_.at(group);
    if (!collect(producer_)) {
      return false;
    }
    find_unread();
    if (!pays()) {
      return false;
    }
    for (auto& [number, reader] : readers_) {
      if (!copy_into(number, reader)) {
        undo();
        return false;
      }
    }
    for (auto& [number, reader] : readers_) {
      groups_.at(number) = std::move(reader.members);
    }
    std::erase_if(groups_.at(group), [&](const ir::Node* node) { return contains(unread_, node); });
    return true;
  }

  const Members& unread() const { return unread_; }

 private:
  static bool may_be_copied(const ir::Node& node) {
    const optable::OpInfo* op = optable::find_op(node.op());
    return op != nullptr && op->has_expression() && node.result_count() == 1 && analysis::is_pure(node) &&
           !node.operands().empty();
  }

  bool is_own(const ir::Node* node) const { return contains(own_, node); }

  bool is_written(const ir::Value& value) const {
    return graph_.is_result(&value) ||
           std::any_of(value.uses().begin(), value.uses().end(), [&](const ir::Use& use) { return !is_own(use.node); });
  }

  // False where no other kernel reads the value, or somebody that is no generated kernel does.
  bool find_readers(int64_t group) {
    for (const ir::Use& use : producer_.result()->uses()) {
      const auto number = analysis::group_of(*use.node);
      if (!number) {
        return false;
      }
      if (*number != group) {
        readers_[*number].uses.push_back(use);
      }
    }
    for (auto& [number, reader] : readers_) {
      reader.members = groups_.at(number);
      if (writes_.at(number) != writes_.at(group)) {
        return false;  // what the value is computed from may be another by then
      }
    }
    return !readers_.empty();
  }

  // Of the slice, what is read by copies alone once there are any.
  void find_unread() {
    for (auto node = slice_.nodes.rbegin(); node != slice_.nodes.rend(); ++node) {
      const bool is_read =
          std::any_of((*node)->result()->uses().begin(), (*node)->result()->uses().end(),
                      [&](const ir::Use& use) { return is_own(use.node) && !contains(unread_, use.node); });
      if (!is_read) {
        unread_.push_back(*node);
      }
    }
  }

  // What the node is computed by, as far as its kernel alone knows it.
  bool collect(ir::Node& node) {
    if (!may_be_copied(node)) {
      return false;
    }
    for (ir::Value* operand : node.operands()) {
      ir::Node* producer = operand->producer();
      const bool is_inside = producer != nullptr && is_own(producer) && !is_reduction(*producer);
      const bool is_known = contains(slice_.nodes, producer);
      if (is_inside && !is_written(*operand)) {
        if (!is_known && !collect(*producer)) {
          return false;
        }
      } else if (!analysis::is_inlined(*operand) &&
                 std::find(slice_.inputs.begin(), slice_.inputs.end(), operand) == slice_.inputs.end()) {
        slice_.inputs.push_back(operand);
      }
    }
    slice_.nodes.push_back(&node);
    return slice_.nodes.size() <= kMostNodes;
  }

  double bytes_of(const ir::Value& value) const { return static_cast<double>(analysis::bytes_of(value, graph_)); }

  bool pays() const {
    const ir::Value& value = *producer_.result();
    const double elements = bytes_of(value) / ir::element_size(value.type().element);
    Members left = own_;
    std::erase_if(left, [&](const ir::Node* node) { return contains(unread_, node); });
    analysis::KernelWork saved{.launches = left.empty() ? 1.0 : 0.0};
    analysis::KernelWork added;
    saved.bytes = bytes_of(value) * static_cast<double>(1 + readers_.size());
    const std::set<const ir::Value*> read_still = inputs_of(left);
    for (const ir::Value* input : inputs_of(own_)) {
      saved.bytes += read_still.count(input) != 0 ? 0 : bytes_of(*input);
    }
    double instructions = 0;
    for (const ir::Node* node : slice_.nodes) {
      instructions += analysis::instructions_of(*node);
    }
    for (const auto& [number, reader] : readers_) {
      const std::set<const ir::Value*> known = inputs_of(reader.members);
      for (const ir::Value* input : slice_.inputs) {
        added.bytes += known.count(input) != 0 ? 0 : bytes_of(*input);
      }
      added.instructions += instructions * elements * walks_of(reader.members);
    }
    for (const ir::Value* input : slice_.inputs) {
      const bool is_left_now = !input->is_parameter() && is_own(input->producer()) && !is_written(*input);
      added.bytes += is_left_now ? bytes_of(*input) : 0;
    }
    return analysis::kernel_us(added) <= analysis::kernel_us(saved);
  }

  static std::set<const ir::Value*> inputs_of(const Members& members) {
    std::set<const ir::Value*> inputs;
    for (const ir::Node* node : members) {
      for (const ir::Value* operand : node->operands()) {
        const bool is_computed = !operand->is_parameter() && contains(members, operand->producer());
        if (!is_computed && !analysis::is_inlined(*operand)) {
          inputs.insert(operand);
        }
      }
    }
    return inputs;
  }

  double walks_of(const Members& members) const {
    const std::vector<const ir::Node*> nodes(members.begin(), members.end());
    if (std::none_of(nodes.begin(), nodes.end(), [](const ir::Node* node) { return is_reduction(*node); })) {
      return 1;
    }
    const auto space = analysis::row_space(graph_, nodes);
    return space ? space->walks : 1;
  }

  // Before the first of the group that reads the value: all that the slice reads is defined there.
  bool copy_into(int64_t number, Reader& reader) {
    auto first = std::find_if(reader.members.begin(), reader.members.end(), [&](const ir::Node* node) {
      return std::any_of(reader.uses.begin(), reader.uses.end(), [&](const ir::Use& use) { return use.node == node; });
    });
    std::map<const ir::Value*, ir::Value*> copy_of;  // never iterated
    for (const ir::Node* node : slice_.nodes) {
      std::vector<ir::Value*> operands;
      for (ir::Value* operand : node->operands()) {
        const auto found = copy_of.find(operand);
        operands.push_back(found == copy_of.end() ? operand : found->second);
      }
      auto copy = graph_.add_node(node->op(), std::move(operands), node->attributes(),
                                  {{graph_.unique_name(node->result()->name()), node->result()->type()}}, *first);
      if (!copy) {
        return false;
      }
      (*copy)->set_location(node->location());
      (*copy)->set_attribute(analysis::kGroupAttribute, number);
      (*copy)->set_attribute(analysis::kClusterAttribute, *analysis::cluster_of(**first));
      copy_of[node->result()] = (*copy)->result();
      copies_.push_back(*copy);
      first = reader.members.insert(first, *copy) + 1;
    }
    for (const ir::Use& use : reader.uses) {
      use.node->set_operand(use.operand_index, copy_of.at(producer_.result()));
    }
    const std::vector<const ir::Node*> nodes(reader.members.begin(), reader.members.end());
    return is_one_loop(graph_, nodes) || is_one_row_kernel(graph_, nodes);
  }

  void undo() {
    for (const auto& [number, reader] : readers_) {
      for (const ir::Use& use : reader.uses) {
        use.node->set_operand(use.operand_index, producer_.result());
      }
    }
    for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy) {
      (void)graph_.erase_node(*copy);  // nothing reads it any more
    }
  }

  ir::Graph& graph_;
  GroupMembers& groups_;
  const Writes& writes_;
  ir::Node& producer_;
  Members own_;
  std::map<int64_t, Reader> readers_;
  Slice slice_;
  Members unread_;
  Members copies_;
};

class Recompute final : public Pass {
 public:
  std::string_view name() const override { return "recompute"; }
  std::string_view description() const override {
    return "lets kernels compute what they read, where that is cheaper than memory";
  }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    Members candidates;
    GroupMembers groups;
    Writes writes;
    int written = 0;
    for (const auto& node : graph.nodes()) {
      if (const auto group = analysis::group_of(*node)) {
        candidates.push_back(node.get());
        groups[*group].push_back(node.get());
        writes[*group] = written;  // a launch is where the last of a group stands
      }
      written += analysis::may_write(*node) ? 1 : 0;
    }
    std::set<const ir::Node*> gone;  // never iterated
    bool changed = false;
    for (ir::Node* node : candidates) {
      if (gone.count(node) != 0) {
        continue;
      }
      Rewrite rewrite(graph, groups, writes, *node);
      if (!rewrite.apply()) {
        continue;
      }
      changed = true;
      for (ir::Node* unread : rewrite.unread()) {
        gone.insert(unread);
        TESSIQ_RETURN_IF_ERROR(graph.erase_node(unread));
      }
    }
    TESSIQ_RETURN_IF_ERROR(number(graph));
    return changed;
  }

 private:
  // In list order without gaps: a group may be gone.
  static Result<void> number(ir::Graph& graph) {
    std::map<int64_t, int64_t> number_of;
    for (const auto& node : graph.nodes()) {
      if (const auto group = analysis::group_of(*node)) {
        const auto fresh = number_of.try_emplace(*group, static_cast<int64_t>(number_of.size())).first->second;
        node->set_attribute(analysis::kGroupAttribute, fresh);
      }
    }
    return {};
  }
};

TESSIQ_REGISTER_PASS(Recompute);

}  // namespace
}  // namespace tessiq::passes
