// Pass inline-constants: which values that are one number everywhere are written into the loops that read them.
//
// Requires:      cluster.
// Guarantees:    tessiq.inlined is true on exactly those nodes whose value is one number that is known before the call,
//                which no result of the graph is, and which only loops of clusters read, at positions of their own.
//                Nothing computes them.
// Legal because: an element of the value is that number, wherever it is read.
// Stops holding when: a kernel other than a loop takes the place of a reader.
#include <algorithm>

#include "analysis/decisions.h"
#include "analysis/element_value.h"
#include "optable/lookup.h"
#include "passes/fusion/groups.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

bool is_inlinable(const ir::Graph& graph, const ir::Node& node) {
  if (!is_loop(node) || graph.is_result(node.result()) || !is_read(graph, node)) {
    return false;
  }
  const std::vector<ir::Use>& uses = node.result()->uses();
  const bool read_as_numbers = std::all_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
    return is_loop(*use.node) && is_read(graph, *use.node) && !optable::find_op(use.node->op())->looks_up();
  });
  return read_as_numbers && analysis::splat_value(*node.result());
}

class InlineConstants final : public Pass {
 public:
  std::string_view name() const override { return "inline-constants"; }
  std::string_view description() const override { return "writes numbers into the loops that read them"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      changed |= is_inlinable(graph, *node) ? node->set_attribute(analysis::kInlinedAttribute, true)
                                            : node->remove_attribute(analysis::kInlinedAttribute);
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(InlineConstants);

}  // namespace
}  // namespace tessiq::passes
