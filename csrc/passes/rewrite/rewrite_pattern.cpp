// Pass <operation>: a computation written out in single operations becomes one call of a custom operation.
//
// Requires:      nothing; what it finds is looked for among operations as imported.
// Guarantees:    no match of the pattern is left that may be replaced; a call that was put in has the name and
//                the place of the value the match ended in, and tessiq.absorbed names the nodes that are gone.
// Legal because: the pattern is what the operation's reference computes, and nothing else read what is gone.
// Stops holding when: a value can be read without being an operand or a result of the graph.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/custom_operation.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"
#include "passes/rewrite/custom_passes.h"
#include "passes/rewrite/pattern.h"

namespace tessiq::passes {
namespace {

bool is_argument(const CustomCall& call, const std::string& name, bool is_tensor) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [&](const auto& one) { return one.name == name && one.is_tensor == is_tensor; });
}

Result<void> check_names(const CustomCall& call, const Pattern& pattern) {
  const std::vector<std::string> parameters = pattern.parameters();
  const std::vector<std::string> symbols = pattern.symbols();
  for (const std::string& name : parameters) {
    if (!is_argument(call, name, true)) {
      return invalid_argument("the pattern's parameter %" + name + " is no tensor argument of the operation");
    }
  }
  for (const std::string& name : symbols) {
    if (!is_argument(call, name, false)) {
      return invalid_argument("the pattern captures " + name + ", which is no number among the operation's arguments");
    }
  }
  for (const CustomCall::Argument& argument : call.arguments) {
    const std::vector<std::string>& names = argument.is_tensor ? parameters : symbols;
    if (std::find(names.begin(), names.end(), argument.name) == names.end()) {
      return invalid_argument("the pattern neither binds nor captures the argument " + argument.name);
    }
  }
  return {};
}

Result<std::vector<Pattern>> patterns_of(const CustomCall& call, std::string_view text) {
  TESSIQ_ASSIGN_OR_RETURN(std::vector<Pattern> patterns, Pattern::parse_all(text));
  for (const Pattern& pattern : patterns) {
    TESSIQ_RETURN_IF_ERROR(check_names(call, pattern));
  }
  return patterns;
}

class RewritePattern final : public Pass {
 public:
  RewritePattern(CustomCall call, std::vector<Pattern> patterns)
      : call_(std::move(call)),
        patterns_(std::move(patterns)),
        description_("calls " + call_.op + " where its computation is written out") {}

  std::string_view name() const override { return call_.name; }
  std::string_view description() const override { return description_; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    std::vector<ir::Node*> roots;
    for (const auto& node : graph.nodes()) {
      roots.push_back(node.get());
    }
    std::unordered_set<const ir::Node*> gone;
    bool changed = false;
    // Backwards: what ends last absorbs most.
    for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
      if (gone.contains(*root)) {
        continue;
      }
      if (std::optional<Match> match = find(graph, **root)) {
        TESSIQ_RETURN_IF_ERROR(replace(graph, *match));
        gone.insert(match->nodes.begin(), match->nodes.end());
        changed = true;
      }
    }
    return changed;
  }

 private:
  std::optional<Match> find(const ir::Graph& graph, ir::Node& root) const {
    for (const Pattern& pattern : patterns_) {
      std::optional<Match> match = pattern.match(root);
      if (match && is_replaceable(graph, *match) && accepts(*match)) {
        return match;
      }
    }
    return std::nullopt;
  }

  bool accepts(const Match& match) const {
    const optable::OpInfo* row = optable::find_op(call_.op);
    analysis::TensorArguments arguments;
    for (const CustomCall::Argument& argument : call_.arguments) {
      arguments.push_back(argument.is_tensor ? match.inputs.at(argument.name) : nullptr);
    }
    const ir::TensorType& result = match.nodes.back()->result()->type();
    if (row == nullptr || !row->accepts(result.element)) {
      return false;
    }
    // A kernel writes packed results, of its operands' element type.
    const bool fits =
        row->is_loop() || (result.is_packed() && analysis::element_of_call(*row, arguments) == result.element);
    return fits && analysis::check_argument_types(*row, arguments).ok();
  }

  Result<void> replace(ir::Graph& graph, const Match& match) const {
    std::string absorbed;
    for (const ir::Node* node : match.nodes) {
      if (node != match.nodes.back()) {
        absorbed += (absorbed.empty() ? "" : ", ") + std::string(node->name()) + " " + node->op();
      }
    }
    std::vector<ir::Value*> operands;
    ir::AttributeMap attributes;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      const CustomCall::Argument& argument = call_.arguments[i];
      if (argument.is_tensor) {
        operands.push_back(match.inputs.at(argument.name));
      } else {
        attributes.emplace(std::to_string(i), match.captures.at(argument.name));
      }
    }
    attributes.emplace(kAbsorbedAttribute, std::move(absorbed));
    TESSIQ_RETURN_IF_ERROR(graph.respell(match.nodes.back(), call_.op, std::move(operands), std::move(attributes)));
    // Readers before what they read: the pattern's order is one of definition before use.
    for (auto node = match.nodes.rbegin() + 1; node != match.nodes.rend(); ++node) {
      TESSIQ_RETURN_IF_ERROR(graph.erase_node(*node));
    }
    return {};
  }

  CustomCall call_;
  std::vector<Pattern> patterns_;
  std::string description_;
};

}  // namespace

Result<void> check_rewrite(const CustomCall& call, std::string_view pattern) {
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<Pattern> patterns, patterns_of(call, pattern));
  return {};
}

Result<void> register_rewrite(const CustomCall& call, std::string_view pattern) {
  TESSIQ_ASSIGN_OR_RETURN(std::vector<Pattern> patterns, patterns_of(call, pattern));
  if (has_pass(call.name)) {
    return invalid_argument("there is already a pass named " + call.name);
  }
  register_pass([call, patterns] { return std::make_unique<RewritePattern>(call, patterns); });
  return {};
}

}  // namespace tessiq::passes
