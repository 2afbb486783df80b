// Dead code elimination: removes nodes whose results nobody reads.
//
// Requires: nothing beyond a verified graph.
// Guarantees: every pure node left is read or returned, directly or through other nodes.
// Legal because: a pure node changes nothing but its results, and these have no reader.
// Stops holding when: an operation with an effect is marked pure. AOTAutograd functionalises what a backend sees, but
//   custom operations and random ones remain; analysis/effects.h decides, and says yes only to what it knows.
#include "analysis/effects.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

bool is_read(const ir::Graph& graph, const ir::Node& node) {
  for (int i = 0; i < node.result_count(); ++i) {
    if (!node.result(i)->uses().empty() || graph.is_result(node.result(i))) {
      return true;
    }
  }
  return false;
}

class DeadCodeElimination : public Pass {
 public:
  std::string_view name() const override { return "dce"; }
  std::string_view description() const override { return "removes pure nodes whose results nobody reads"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    bool changed = false;
    // Backwards, so that a removed consumer leaves its producer dead within the same sweep.
    for (auto at = graph.nodes().end(); at != graph.nodes().begin();) {
      ir::Node* node = std::prev(at)->get();
      if (is_read(graph, *node) || !analysis::is_pure(*node)) {
        --at;
        continue;
      }
      TESSIQ_RETURN_IF_ERROR(graph.erase_node(node));
      changed = true;
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(DeadCodeElimination);

}  // namespace
}  // namespace tessiq::passes
