// Pass fuse-loops: which loops over one shape a single loop computes, with several results where several are read.
//
// Requires:      fuse-elementwise; fuse-reductions before it has the first choice.
// Guarantees:    the members of a group without a reduction have a loop space, and no reader outside stands before the
//                last of them. Groups with a reduction are as they were.
// Legal because: a loop space gives each member's element from elements of its operands at one position, and the graph
//                of units stays free of cycles. Nodes move only past others that neither read them nor have effects on
//                what they read.
// Stops holding when: an element of a member depends on what another iteration of the loop computed.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/loop_access.h"
#include "analysis/loop_space.h"
#include "passes/fusion/groups.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// A thread has all loads of its elements in flight at once, in registers: more of them leave room for fewer threads.
constexpr size_t kMaxTensors = 24;
// Loops that nothing connects are joined where a launch costs more than the work: the casts of a layer's weights, say.
// Near each other, so that little lives longer than it has to.
constexpr int64_t kFewElements = int64_t{1} << 22;
constexpr size_t kNear = 32;
constexpr size_t kFewNodes = 8;

// What the nodes read from memory and leave there.
struct Traffic {
  std::set<const ir::Value*> inputs;
  std::vector<const ir::Value*> outputs;
};

Traffic traffic_of(const ir::Graph& graph, std::span<const ir::Node* const> nodes) {
  const std::set<const ir::Node*> members(nodes.begin(), nodes.end());
  Traffic traffic;
  for (const ir::Node* node : nodes) {
    for (const ir::Value* operand : node->operands()) {
      const bool computed = !operand->is_parameter() && members.count(operand->producer()) != 0;
      if (!computed && !analysis::is_inlined(*operand)) {
        traffic.inputs.insert(operand);
      }
    }
    const ir::Value* value = node->result();
    const bool leaves = std::any_of(value->uses().begin(), value->uses().end(),
                                    [&](const ir::Use& use) { return members.count(use.node) == 0; });
    if (leaves || graph.is_result(value)) {
      traffic.outputs.push_back(value);
    }
  }
  return traffic;
}

// A loop walks memory in the order of one result; another that lies differently would be written across it.
bool lie_alike(const ir::Graph& graph, const std::vector<const ir::Value*>& values) {
  std::optional<std::vector<int>> order;
  for (const ir::Value* value : values) {
    const auto own = analysis::dense_order(value->type(), &graph);
    if (!own || (order && *order != *own)) {
      return false;
    }
    order = *own;
  }
  return true;
}

bool pays(const ir::Graph& graph, std::span<const ir::Node* const> nodes) {
  const Traffic traffic = traffic_of(graph, nodes);
  return traffic.inputs.size() + traffic.outputs.size() <= kMaxTensors && lie_alike(graph, traffic.outputs);
}

bool is_small(const ir::Node& node) {
  const std::optional<int64_t> count =
      node.result_count() == 1 ? node.result()->type().element_count() : std::optional<int64_t>();
  return count && *count <= kFewElements;
}

class FuseLoops final : public Pass {
 public:
  std::string_view name() const override { return "fuse-loops"; }
  std::string_view description() const override { return "joins loops that share what they read or compute"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    auto joins = [&](std::span<const ir::Node* const> nodes) { return is_one_loop(graph, nodes); };
    // A scalar or a row that two loops read is no reason to compute them together.
    std::set<const ir::Value*> whole;  // never iterated
    for (const auto& node : graph.nodes()) {
      for (const ir::Value* operand : node->operands()) {
        const bool is_one = node->result_count() == 1 && analysis::group_of(*node) && !analysis::is_inlined(*operand) &&
                            analysis::same_shape(operand->type().shape, node->result()->type().shape);
        if (is_one) {
          whole.insert(operand);
        }
      }
    }
    Groups groups(graph);
    for (bool joined = true; joined;) {
      joined = groups.join_neighbours(joins);
      joined |= groups.join_siblings(joins, [&](const ir::Value& value) { return whole.count(&value) != 0; });
    }
    groups.join_near(joins, is_small, kNear, kFewNodes);
    TESSIQ_ASSIGN_OR_RETURN(const std::optional<bool> changed, groups.record());
    return changed.value_or(false);
  }
};

TESSIQ_REGISTER_PASS(FuseLoops);

}  // namespace

bool is_one_loop(const ir::Graph& graph, std::span<const ir::Node* const> nodes) {
  return std::none_of(nodes.begin(), nodes.end(), [](const ir::Node* node) { return is_reduction(*node); }) &&
         analysis::loop_space(graph, nodes) && pays(graph, nodes);
}

}  // namespace tessiq::passes
