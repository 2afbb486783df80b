// Pass layout-assign: packed copies of the operands that a library call cannot read where they lie.
//
// Requires:      mark-supported.
// Guarantees:    every operand of a supported matrix multiply is a matrix in one of the two orders, its addend a packed
//                row or a row-major matrix; a copy put in is a tessiq.pack, marked as mark-supported would.
// Legal because: a packed copy holds the same elements, and readers are told of layout by the type alone.
// Stops holding when: a reader depends on aliasing its operand: a library call writes none.
//
// Loops need no copy: they read any strides in place.
#include <map>

#include "analysis/claim.h"
#include "analysis/decisions.h"
#include "analysis/matmul_layout.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::MatrixOrder;

bool is_product(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->category == optable::Category::kMatmul && analysis::is_supported(node);
}

bool readable(const ir::Graph& graph, const ir::Node& node, int index) {
  const ir::TensorType& type = node.operand(index)->type();
  const bool is_addend = node.operands().size() == 3 && index == 0;
  if (!is_addend) {
    return analysis::readable_as_matrix(type, &graph);
  }
  return type.is_packed() || (type.rank() == 2 && analysis::readable_as_matrix(type, &graph, MatrixOrder::kRowMajor));
}

class LayoutAssign final : public Pass {
 public:
  std::string_view name() const override { return "layout-assign"; }
  std::string_view description() const override {
    return "inserts packed copies of operands that a kernel cannot read in place";
  }

  Result<bool> run(ir::Graph& graph, const TargetOptions& target) override {
    packed_.clear();
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      for (int index = 0; is_product(*node) && index < static_cast<int>(node->operands().size()); ++index) {
        if (readable(graph, *node, index)) {
          continue;
        }
        TESSIQ_ASSIGN_OR_RETURN(ir::Value * copy, packed(graph, *node, node->operand(index), target));
        node->set_operand(index, copy);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // One copy a value: later readers share the first reader's.
  Result<ir::Value*> packed(ir::Graph& graph, ir::Node& reader, ir::Value* value, const TargetOptions& target) {
    if (const auto found = packed_.find(value->name()); found != packed_.end()) {
      return found->second;
    }
    const ir::TensorType type{value->type().element, value->type().shape, std::nullopt};
    TESSIQ_ASSIGN_OR_RETURN(ir::Node * pack,
                            graph.add_node(std::string(analysis::kPackOp), {value}, {},
                                           {{graph.unique_name(value->name() + "_packed"), type}}, &reader));
    pack->set_location(reader.location());
    const analysis::Claim claim = analysis::claim(*pack, target, &graph);
    pack->set_attribute(analysis::kSupportedAttribute, claim.supported);
    if (!claim.supported) {
      pack->set_attribute(analysis::kReasonAttribute, claim.reason_id + ": " + claim.reason);
    }
    packed_[value->name()] = pack->result();
    return pack->result();
  }

  std::map<std::string, ir::Value*> packed_;  // by the name of what was copied
};

TESSIQ_REGISTER_PASS(LayoutAssign);

}  // namespace
}  // namespace tessiq::passes
