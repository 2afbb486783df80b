// Pass replace-<operation>: calls of a PyTorch operator become calls of the custom operation that replaces it.
//
// Requires:      nothing.
// Guarantees:    no call of the operator is left whose element types the operation declares.
// Legal because: the two have the same arguments, and the operation's reference computes what the operator does.
// Stops holding when: the operator is called with an argument that its schema gains later and the operation's lacks.
#include <utility>

#include "analysis/arguments.h"
#include "analysis/custom_operation.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"
#include "passes/rewrite/custom_passes.h"

namespace tessiq::passes {
namespace {

class ReplaceOperator final : public Pass {
 public:
  ReplaceOperator(CustomCall call, std::string replaced)
      : call_(std::move(call)),
        replaced_(std::move(replaced)),
        name_(replacement_pass_name(call_.name)),
        description_("calls " + call_.op + " in place of " + replaced_) {}

  std::string_view name() const override { return name_; }
  std::string_view description() const override { return description_; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    bool changed = false;
    for (const auto& node : graph.nodes()) {
      if (node->op() == replaced_ && accepts(*node)) {
        node->set_op(call_.op);
        changed = true;
      }
    }
    return changed;
  }

 private:
  bool accepts(const ir::Node& node) const {
    const optable::OpInfo* row = optable::find_op(call_.op);
    const analysis::Arguments given(node);
    analysis::TensorArguments arguments;
    for (int position = 0; position < given.count(); ++position) {
      arguments.push_back(given.tensor(position));
    }
    return row != nullptr && analysis::check_argument_types(*row, arguments).ok();
  }

  CustomCall call_;
  std::string replaced_;
  std::string name_;
  std::string description_;
};

}  // namespace

std::string replacement_pass_name(std::string_view operation) { return "replace-" + std::string(operation); }

Result<void> register_replacement(const CustomCall& call, const std::string& replaced) {
  if (const std::string name = replacement_pass_name(call.name); has_pass(name)) {
    return invalid_argument("there is already a pass named " + name);
  }
  register_pass([call, replaced] { return std::make_unique<ReplaceOperator>(call, replaced); });
  return {};
}

}  // namespace tessiq::passes
