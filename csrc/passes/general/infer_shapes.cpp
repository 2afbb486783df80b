// Shape inference: derives each result's shape from its operands and merges it into the type the graph records.
//
// Requires: nothing beyond a verified graph.
// Guarantees: every extent that a rule derives from what the graph knows is recorded. Operations without a rule are
// left
//   alone, and so are element types and layouts. What the graph records already is never weakened: an unknown extent
//   becomes the derived one, a number or a symbol stays.
// Legal because: a type states what every call gives, and a rule states what the operation gives for these operands. A
//   recorded number that differs from the derived one describes a tensor that cannot exist, and is an error.
// Stops holding when: a rule assumes an argument's meaning that another overload does not share.
#include <utility>

#include "analysis/shape_rules.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// Returns whether the type learned something.
Result<bool> merge(ir::Graph& graph, ir::Value* value, const ir::Shape& derived) {
  ir::TensorType type = value->type();
  const std::string conflict = "%" + value->name() + " is recorded as " + type.to_string();
  if (derived.size() != type.shape.size()) {
    return invalid_argument(conflict + " but its operands give " + std::to_string(derived.size()) + " axes");
  }
  bool changed = false;
  for (size_t axis = 0; axis < derived.size(); ++axis) {
    ir::Extent& recorded = type.shape[axis];
    if (recorded.is_known() && derived[axis].is_known() && recorded != derived[axis]) {
      return invalid_argument(conflict + " but its operands give " + derived[axis].to_string() + " on axis " +
                              std::to_string(axis));
    }
    if (recorded.is_unknown() && !derived[axis].is_unknown()) {
      recorded = derived[axis];
      changed = true;
    }
  }
  if (changed) {
    graph.set_type(value, std::move(type));
  }
  return changed;
}

class InferShapes : public Pass {
 public:
  std::string_view name() const override { return "infer-shapes"; }
  std::string_view description() const override { return "fills in unknown extents from the operands' shapes"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      auto shapes = analysis::infer_shapes(*node);
      if (!shapes) {
        return std::move(shapes).error().with_context("%" + std::string(node->name()));
      }
      if (!*shapes) {
        continue;
      }
      for (int i = 0; i < node->result_count(); ++i) {
        TESSIQ_ASSIGN_OR_RETURN(const bool learned, merge(graph, node->result(i), (**shapes)[static_cast<size_t>(i)]));
        changed |= learned;
      }
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(InferShapes);

}  // namespace
}  // namespace tessiq::passes
