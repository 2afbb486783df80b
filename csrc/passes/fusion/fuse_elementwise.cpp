// Pass fuse-elementwise: which claimed nodes one loop computes.
//
// Requires:      cluster; inline-constants before it takes numbers out of its hands.
// Guarantees:    every node of a cluster that a loop computes and somebody reads has tessiq.group, numbered by the
//                group's first node in list order; a lone one has a group of its own. Values leave a group only from
//                its last node. The nodes of a group are in one cluster and run over one shape, but for what is read
//                through a window, which runs over the window.
// Legal because: an element of each result depends on one element of each operand, at a position that its own gives,
//                and all operands are defined before the last node. Only a group's last value is read outside it, so a
//                path from there back in would be a cycle of the graph. Outside a window the producer computes on
//                zeros and nobody reads the result, which is why it has to be one that no operand can make fail.
// Stops holding when: a producer with two readers may join, or one read in two windows.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/element_step.h"
#include "analysis/loop_space.h"
#include "optable/lookup.h"
#include "passes/fusion/groups.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// Tensors a kernel reads: with eight strides each they still fit the 32 KiB that a launch can carry.
constexpr int64_t kMaxReads = 64;

enum class Reading { kElsewhere, kInPlace, kThroughWindow };

// Where the reader reads the producer: at the positions it computes, or in one window, or otherwise: turned around, or
// looked up.
Reading reading(const ir::Node& reader, const ir::Node& producer) {
  const optable::OpInfo& op = *optable::find_op(reader.op());
  if (op.index_map == optable::IndexMap::kNone) {
    return analysis::same_shape(reader.result()->type().shape, producer.result()->type().shape) ? Reading::kInPlace
                                                                                                : Reading::kElsewhere;
  }
  Reading found = Reading::kElsewhere;
  const Result<analysis::ElementStep> step = analysis::element_step(reader, op);
  for (const analysis::StepArgument& argument : step ? step->arguments : std::vector<analysis::StepArgument>{}) {
    const auto* operand = std::get_if<analysis::StepOperand>(&argument);
    if (operand == nullptr || reader.operand(operand->index) != producer.result()) {
      continue;
    }
    if (found != Reading::kElsewhere || !operand->reversed.empty() || !operand->lookups.empty()) {
      return Reading::kElsewhere;
    }
    found = operand->windows.empty() ? Reading::kInPlace : Reading::kThroughWindow;
  }
  return found;
}

// The reader that may take the producer into its loop, if there is one: its only reader, in the same cluster. A claim
// has asked operand_access for every operand of both; equal shapes make the answers hold for the group.
const ir::Node* only_reader_of(const ir::Graph& graph, const ir::Node& producer) {
  const std::vector<ir::Use>& uses = producer.result()->uses();
  if (uses.empty() || graph.is_result(producer.result())) {
    return nullptr;
  }
  const ir::Node* reader = uses.front().node;
  const bool only_reader =
      std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) { return use.node == reader; });
  return only_reader && is_loop(*reader) && analysis::cluster_of(*reader) == analysis::cluster_of(producer) ? reader
                                                                                                            : nullptr;
}

class FuseElementwise final : public Pass {
 public:
  std::string_view name() const override { return "fuse-elementwise"; }
  std::string_view description() const override { return "groups the nodes that one generated loop computes"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    // Consumers before producers, so that a node knows the group it may join and that group's reads so far.
    std::map<const ir::Node*, size_t> group_of;  // never iterated
    std::set<const ir::Node*> in_window;         // never iterated; nodes whose group reads them through a window
    std::vector<int64_t> reads;                  // by group: operands of its nodes but for those it computes
    for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
      const ir::Node& node = **it;
      if (!is_loop(node) || analysis::is_inlined(*node.result()) || !is_read(graph, node)) {
        continue;
      }
      const auto own = static_cast<int64_t>(node.operands().size());
      const ir::Node* reader = only_reader_of(graph, node);
      const Reading how = reader == nullptr ? Reading::kElsewhere : reading(*reader, node);
      const bool windowed = how == Reading::kThroughWindow || in_window.count(reader) != 0;
      const auto joined = how == Reading::kElsewhere || (windowed && !analysis::is_total(node)) ? group_of.end()
                                                                                                : group_of.find(reader);
      if (joined != group_of.end() && reads[joined->second] + own <= kMaxReads + 1) {
        group_of.emplace(&node, joined->second);
        if (windowed) {
          in_window.insert(&node);
        }
        reads[joined->second] += own - 1;
        continue;
      }
      group_of.emplace(&node, reads.size());
      reads.push_back(own);
    }
    return number(graph, group_of, reads.size());
  }

 private:
  static bool number(ir::Graph& graph, const std::map<const ir::Node*, size_t>& group_of, size_t count) {
    std::vector<int64_t> number_of(count, -1);
    int64_t next = 0;
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      const auto found = group_of.find(node.get());
      if (found == group_of.end()) {
        changed |= node->remove_attribute(analysis::kGroupAttribute);
        continue;
      }
      int64_t& number = number_of[found->second];
      number = number < 0 ? next++ : number;
      changed |= node->set_attribute(analysis::kGroupAttribute, number);
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(FuseElementwise);

}  // namespace
}  // namespace tessiq::passes
