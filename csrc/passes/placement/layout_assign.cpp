// Pass layout-assign: packed copies of the operands that a library call cannot read where they lie.
//
// Requires:      mark-supported.
// Guarantees:    every operand of a supported matrix multiply is a matrix in one of the two orders, its addend a packed
//                row or a row-major matrix; those of a supported convolution have their channels where its results do;
//                a copy put in is a tessiq.pack, marked as mark-supported would.
// Legal because: a packed copy holds the same elements, and readers are told of layout by the type alone.
// Stops holding when: a reader depends on aliasing its operand: a library call writes none.
//
// Loops need no copy: they read any strides in place.
#include <map>
#include <utility>

#include "analysis/claim.h"
#include "analysis/convolution.h"
#include "analysis/decisions.h"
#include "analysis/matmul_layout.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::MatrixOrder;

using analysis::ChannelOrder;
using optable::Category;

bool is_of(const ir::Node& node, Category category) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && op->category == category && analysis::is_supported(node);
}

bool readable(const ir::Graph& graph, const ir::Node& product, int index) {
  const ir::TensorType& type = product.operand(index)->type();
  const bool is_addend = product.operands().size() == 3 && index == 0;
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
      TESSIQ_ASSIGN_OR_RETURN(const bool packed, pack_operands(graph, *node, target));
      changed |= packed;
    }
    return changed;
  }

 private:
  Result<bool> pack_operands(ir::Graph& graph, ir::Node& node, const TargetOptions& target) {
    const bool is_convolution = is_of(node, Category::kConvolution);
    if (!is_convolution && !is_of(node, Category::kMatmul)) {
      return false;
    }
    ChannelOrder order = ChannelOrder::kFirst;
    if (is_convolution) {
      TESSIQ_ASSIGN_OR_RETURN(const analysis::Convolution convolution, analysis::convolution_of(node));
      TESSIQ_ASSIGN_OR_RETURN(order, analysis::channel_order(node, convolution, &graph));
    }
    bool changed = false;
    for (int index = 0; index < static_cast<int>(node.operands().size()); ++index) {
      if (is_convolution ? analysis::lies_in(node.operand(index)->type(), order, &graph)
                         : readable(graph, node, index)) {
        continue;
      }
      TESSIQ_ASSIGN_OR_RETURN(ir::Value * copy, packed(graph, node, node.operand(index), order, target));
      node.set_operand(index, copy);
      changed = true;
    }
    return changed;
  }

  // One copy a value and order: later readers share the first reader's.
  Result<ir::Value*> packed(ir::Graph& graph, ir::Node& reader, ir::Value* value, ChannelOrder order,
                            const TargetOptions& target) {
    ir::Value*& copy = packed_[{value->name(), order}];
    if (copy != nullptr) {
      return copy;
    }
    TESSIQ_ASSIGN_OR_RETURN(const ir::TensorType type, analysis::in_order(value->type(), order));
    TESSIQ_ASSIGN_OR_RETURN(ir::Node * pack,
                            graph.add_node(std::string(analysis::kPackOp), {value}, {},
                                           {{graph.unique_name(value->name() + "_packed"), type}}, &reader));
    pack->set_location(reader.location());
    const analysis::Claim claim = analysis::claim(*pack, target, &graph);
    pack->set_attribute(analysis::kSupportedAttribute, claim.supported);
    if (!claim.supported) {
      pack->set_attribute(analysis::kReasonAttribute, claim.reason_id + ": " + claim.reason);
    }
    copy = pack->result();
    return copy;
  }

  std::map<std::pair<std::string, ChannelOrder>, ir::Value*> packed_;  // by the name of what was copied
};

TESSIQ_REGISTER_PASS(LayoutAssign);

}  // namespace
}  // namespace tessiq::passes
