// Pass mark-supported: whether the backend runs each node, and why not.
//
// Requires:      nothing.
// Guarantees:    every node has tessiq.supported; exactly those where it is false have tessiq.reason, "id: text".
// Legal because: it records and changes nothing that is computed.
// Stops holding when: a claim reads an attribute that a later pass writes; claims read the node and the target only.
#include <string>

#include "analysis/claim.h"
#include "analysis/decisions.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

class MarkSupported final : public Pass {
 public:
  std::string_view name() const override { return "mark-supported"; }
  std::string_view description() const override {
    return "records on every node whether the backend runs it, or why not";
  }

  Result<bool> run(ir::Graph& graph, const TargetOptions& target) override {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      const analysis::Claim claim = analysis::claim(*node, target, &graph);
      changed |= node->set_attribute(analysis::kSupportedAttribute, claim.supported);
      changed |= claim.supported
                     ? node->remove_attribute(analysis::kReasonAttribute)
                     : node->set_attribute(analysis::kReasonAttribute, claim.reason_id + ": " + claim.reason);
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(MarkSupported);

}  // namespace
}  // namespace tessiq::passes
