// Common subexpression elimination: readers of a duplicate read the first node that computes the same.
//
// Requires: nothing beyond a verified graph. Pays off before dce, which removes the duplicates.
// Guarantees: no two pure nodes of equal operation, operands, attributes and result types are both read. A duplicate
//   stays, unread, for dce; one that the graph returns stays returned (graph.h, replace_reads).
// Legal because: equal operations on equal operands with equal attributes give equal results, and the first is defined
//   before every reader of the second. Attributes count, floats by their bits. So do types: an extent that is not known
//   is the same number for both, but a pass that recorded two layouts has a reason for two values.
// Stops holding when: a pure operation reads something that changes between two nodes, such as memory it was not given.
#include <algorithm>
#include <unordered_map>

#include "analysis/effects.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// With an attribute the two sides may differ in meaning: alpha scales the second operand of add only.
bool operands_commute(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->commutative && node.attributes().empty() && node.operands().size() == 2;
}

// Equal texts for exactly the nodes that compute the same. Names of values are unique, and attributes print
// injectively.
std::string identity_of(const ir::Node& node) {
  std::vector<std::string_view> operands;
  for (const ir::Value* operand : node.operands()) {
    operands.push_back(operand->name());
  }
  if (operands_commute(node)) {
    std::sort(operands.begin(), operands.end());
  }
  std::string text = node.op() + "(";
  for (const std::string_view operand : operands) {
    text += "%";
    text += operand;
  }
  text += ")";
  for (const auto& [key, attribute] : node.attributes()) {
    text += key + "=" + ir::attribute_to_string(attribute) + ",";
  }
  for (int i = 0; i < node.result_count(); ++i) {
    text += ":" + node.result(i)->type().to_string();
  }
  return text;
}

class CommonSubexpressionElimination : public Pass {
 public:
  std::string_view name() const override { return "cse"; }
  std::string_view description() const override { return "lets readers of a duplicate node read the first one"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    bool changed = false;
    std::unordered_map<std::string, ir::Node*> first;  // looked up, never iterated
    for (const auto& node : graph.nodes()) {
      if (!analysis::is_pure(*node)) {
        continue;
      }
      const auto [found, is_first] = first.try_emplace(identity_of(*node), node.get());
      if (is_first) {
        continue;
      }
      for (int i = 0; i < node->result_count(); ++i) {
        // The duplicate stays and is found again by the next run: only a use that moved is a change.
        changed |= graph.replace_reads(node->result(i), found->second->result(i));
      }
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(CommonSubexpressionElimination);

}  // namespace
}  // namespace tessiq::passes
