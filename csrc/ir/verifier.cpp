// The walk over a graph that checks what verifier.h lists. One linear pass; the message names the first broken
// invariant.
#include "ir/verifier.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/name.h"

namespace tessiq::ir {
namespace {

std::string quoted(const Value& value) { return "%" + value.name(); }

std::string slot(const Node& node, size_t index) {
  return "operand " + std::to_string(index) + " of %" + std::string(node.name()) + " (" + node.op() + ")";
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Result<void> run() {
    if (!is_name(graph_.name())) {
      return internal("the graph's name \"" + graph_.name() + "\" is not a name");
    }
    TESSIQ_RETURN_IF_ERROR(check_symbols());
    for (const auto& parameter : graph_.parameters()) {
      if (parameter->producer() != nullptr) {
        return internal("parameter " + quoted(*parameter) + " has a producer");
      }
      TESSIQ_RETURN_IF_ERROR(define(*parameter));
    }
    for (const auto& node : graph_.nodes()) {
      nodes_.insert(node.get());
      TESSIQ_RETURN_IF_ERROR(check_node(*node));
    }
    for (const auto& parameter : graph_.parameters()) {
      TESSIQ_RETURN_IF_ERROR(check_uses(*parameter));
    }
    for (const auto& node : graph_.nodes()) {
      for (int i = 0; i < node->result_count(); ++i) {
        TESSIQ_RETURN_IF_ERROR(check_uses(*node->result(i)));
      }
    }
    return check_results();
  }

 private:
  Result<void> check_symbols() {
    std::unordered_set<std::string> defined;
    for (const SymbolDefinition& symbol : graph_.symbols()) {
      if (!is_symbol_name(symbol.name) || !defined.insert(symbol.name).second) {
        return internal("symbol \"" + symbol.name + "\" is not a name or is defined twice");
      }
    }
    // What is defined later must not be read yet: definitions are then evaluated in order and form no cycle.
    for (const SymbolDefinition& symbol : graph_.symbols()) {
      if (symbol.expression) {
        TESSIQ_RETURN_IF_ERROR(check_expression(*symbol.expression, symbol.name, defined));
      }
      defined.erase(symbol.name);
    }
    return {};
  }

  // `pending` holds the symbols not defined yet, that of the definition itself included.
  Result<void> check_expression(const SizeExpr& expr, const std::string& name,
                                const std::unordered_set<std::string>& pending) {
    if (auto checked = check_size_expr(expr); !checked) {
      return internal("symbol " + name + ": " + checked.error().message());
    }
    return check_order(expr, name, pending);
  }

  Result<void> check_order(const SizeExpr& expr, const std::string& name,
                           const std::unordered_set<std::string>& pending) {
    if (expr.kind == SizeExpr::Kind::kSymbol && pending.contains(expr.symbol)) {
      const SymbolDefinition* read = graph_.find_symbol(expr.symbol);
      if (read == nullptr || read->expression) {
        return internal("symbol " + name + " reads " + expr.symbol + ", which is not defined before it");
      }
    }
    for (const SizeExpr& operand : expr.operands) {
      TESSIQ_RETURN_IF_ERROR(check_order(operand, name, pending));
    }
    return {};
  }

  Result<void> define(const Value& value) {
    if (!is_name(value.name())) {
      return internal("value name \"" + value.name() + "\" is not a name");
    }
    if (!names_.insert(value.name()).second || graph_.find_value(value.name()) != &value) {
      return internal("value name " + quoted(value) + " is used twice");
    }
    const TensorType& type = value.type();
    if (auto checked = check_type(type); !checked) {
      return internal(quoted(value) + ": " + checked.error().message());
    }
    if (!type.is_packed() && normalized(type).is_packed()) {
      return internal(quoted(value) + " has type " + type.to_string() +
                      ", whose strides are those of a packed tensor and should be absent");
    }
    reads_.emplace(&value, 0);
    return {};
  }

  Result<void> check_node(const Node& node) {
    if (!is_name(node.op())) {
      return internal("operation \"" + node.op() + "\" of %" + std::string(node.name()) + " is not a name");
    }
    for (size_t i = 0; i < node.operands().size(); ++i) {
      const auto found = reads_.find(node.operands()[i]);
      if (found == reads_.end()) {
        // Its name is not read here: the value may have been freed.
        return internal(slot(node, i) +
                        " is not defined before it; a node may have been inserted or moved after one of its readers");
      }
      found->second += 1;
    }
    TESSIQ_RETURN_IF_ERROR(check_attributes(node));
    for (int i = 0; i < node.result_count(); ++i) {
      const Value& result = *node.result(i);
      if (result.producer() != &node || result.result_index() != i) {
        return internal("result " + quoted(result) + " does not point back at the node that produces it");
      }
      TESSIQ_RETURN_IF_ERROR(define(result));
    }
    return {};
  }

  Result<void> check_attributes(const Node& node) {
    for (const auto& [key, attribute] : node.attributes()) {
      if (!is_name(key)) {
        return internal("attribute key \"" + key + "\" of %" + std::string(node.name()) + " is not a name");
      }
      const SizeList one =
          std::holds_alternative<Extent>(attribute) ? SizeList{std::get<Extent>(attribute)} : SizeList{};
      const SizeList* sizes = std::get_if<SizeList>(&attribute);
      for (const Extent& extent : sizes != nullptr ? *sizes : one) {
        if (extent.is_symbol() && !is_symbol_name(extent.name())) {
          return internal("attribute " + key + " of %" + std::string(node.name()) + " names \"" + extent.name() +
                          "\", which cannot be a size symbol");
        }
      }
    }
    return {};
  }

  Result<void> check_uses(const Value& value) {
    const size_t reads = reads_.at(&value);
    std::unordered_map<const Node*, std::unordered_set<int>> seen;
    for (const Use& use : value.uses()) {
      const bool reads_value = nodes_.contains(use.node) && use.operand_index >= 0 &&
                               static_cast<size_t>(use.operand_index) < use.node->operands().size() &&
                               use.node->operand(use.operand_index) == &value;
      if (!reads_value || !seen[use.node].insert(use.operand_index).second) {
        return internal("the use list of " + quoted(value) +
                        " names a slot that does not read it; an operand may have been changed without set_operand");
      }
    }
    if (value.uses().size() != reads) {
      return internal("the use list of " + quoted(value) + " has " + std::to_string(value.uses().size()) +
                      " readers where " + std::to_string(reads) +
                      " operand slots read it; an operand may have been assigned without set_operand");
    }
    return {};
  }

  Result<void> check_results() {
    for (size_t i = 0; i < graph_.results().size(); ++i) {
      const Value* result = graph_.results()[i];
      if (!reads_.contains(result)) {
        return internal("graph result " + std::to_string(i) + " is not defined in this graph; its node may be erased");
      }
      if (!graph_.is_result(result)) {
        return internal("graph result " + quoted(*result) + " is not counted as one");
      }
    }
    return {};
  }

  const Graph& graph_;
  std::unordered_set<std::string> names_;
  std::unordered_set<const Node*> nodes_;
  std::unordered_map<const Value*, size_t> reads_;  // operand slots that read each value defined so far
};

}  // namespace

Result<void> verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace tessiq::ir
