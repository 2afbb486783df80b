// Pass lookups-first: looks operands up before what is computed of them, where few of the results are read.
//
// Requires:      nothing; before mark-supported, since new nodes have no claim.
// Guarantees:    an embedding, index_select or gather that reads an eighth or less of what an expression computes,
//                reads the expression's operands instead, and it is computed of what was read; unless the graph returns
//                one of the two, something other than loops and reductions reads what is computed, or something is
//                written between them.
// Legal because: an element of the expression depends on elements of its operands at the same position, so that either
//                order reads the same ones; and each position is still looked up in an operand with as many of them.
// Stops holding when: an operation with an expression depends on elements elsewhere.
//
// The log-softmax of a language model's logits is the case: a loss reads one of 50,000 numbers a row, and the others
// need never be written.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/arguments.h"
#include "analysis/effects.h"
#include "analysis/element_step.h"
#include "analysis/loop_space.h"
#include "analysis/placement_cost.h"
#include "optable/lookup.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// Of what is computed, one in so many elements is read: fewer are worth more nodes.
constexpr double kFew = 8;

double elements_of(const ir::Value& value, const ir::Graph& graph) {
  return static_cast<double>(analysis::bytes_of(value, graph)) / ir::element_size(value.type().element);
}

const optable::OpInfo* expression_of(const ir::Node* node) {
  const optable::OpInfo* op = node == nullptr ? nullptr : optable::find_op(node->op());
  const bool suits = op != nullptr && op->has_expression() && node->result_count() == 1 && analysis::is_pure(*node);
  return suits ? op : nullptr;
}

// The one operand that is looked up, and along which of its axes: for operations whose result has the others as they
// are.
struct Read {
  int operand = 0;
  size_t axis = 0;
};

std::optional<Read> read_of(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr || !op->looks_up() || op->index_map == optable::IndexMap::kIndex || node.result_count() != 1) {
    return std::nullopt;
  }
  const auto step = analysis::element_step(node, *op);
  const auto* operand = step ? std::get_if<analysis::StepOperand>(&step->arguments.front()) : nullptr;
  if (operand == nullptr || operand->lookups.size() != 1) {
    return std::nullopt;
  }
  return Read{operand->index, static_cast<size_t>(operand->lookups.front().axis)};
}

using Members = std::vector<ir::Node*>;

class LookupsFirst final : public Pass {
 public:
  std::string_view name() const override { return "lookups-first"; }
  std::string_view description() const override { return "looks operands up before what is computed of them"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    std::set<const ir::Node*> turned;  // nodes whose result somebody has stopped reading; never iterated
    // A lookup that was put in stands before its reader and is met next.
    for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
      ir::Node* node = at->get();
      const auto read = read_of(*node);
      if (!read || !suits(graph, *node, *read) || is_written_before(at, *node->operand(read->operand))) {
        ++at;
        continue;
      }
      // It is not the first node: what it reads is computed before.
      const auto before = std::prev(at);
      turned.insert(node->operand(read->operand)->producer());
      TESSIQ_RETURN_IF_ERROR(turn_around(graph, *node, *read));
      at = std::next(before);
    }
    TESSIQ_RETURN_IF_ERROR(erase_unread(graph, turned));
    return !turned.empty();
  }

 private:
  // Whether what the value is computed of may be another by the time it is looked up.
  static bool is_written_before(ir::Graph::NodeList::const_iterator lookup, const ir::Value& value) {
    while ((--lookup)->get() != value.producer()) {
      if (analysis::may_write(**lookup)) {
        return true;
      }
    }
    return false;
  }

  // From the end, so that each goes after what read it.
  static Result<void> erase_unread(ir::Graph& graph, const std::set<const ir::Node*>& turned) {
    Members candidates;
    for (const auto& node : graph.nodes()) {
      if (turned.count(node.get()) != 0) {
        candidates.push_back(node.get());
      }
    }
    for (auto node = candidates.rbegin(); node != candidates.rend(); ++node) {
      if ((*node)->result()->uses().empty()) {
        TESSIQ_RETURN_IF_ERROR(graph.erase_node(*node));
      }
    }
    return {};
  }

  static bool suits(const ir::Graph& graph, const ir::Node& lookup, const Read& read) {
    const ir::Value& table = *lookup.operand(read.operand);
    const bool is_positions_too = std::count(lookup.operands().begin(), lookup.operands().end(), &table) != 1;
    if (expression_of(table.producer()) == nullptr || is_positions_too || graph.is_result(&table) ||
        graph.is_result(lookup.result()) || lookup.result()->type().rank() == 0 ||
        elements_of(*lookup.result(), graph) * kFew > elements_of(table, graph)) {
      return false;
    }
    // Somebody else's kernel reads what is in memory, and then a lookup may as well.
    const bool only_kernels = std::all_of(table.uses().begin(), table.uses().end(), [](const ir::Use& use) {
      const optable::OpInfo* op = optable::find_op(use.node->op());
      return op != nullptr && (op->is_loop() || op->is_reduction());
    });
    const std::vector<ir::Value*>& operands = table.producer()->operands();
    return only_kernels &&
           std::all_of(operands.begin(), operands.end(),
                       [&](const ir::Value* operand) {
                         return is_looked_up(*operand, table) || is_same_everywhere(lookup, *operand, table, read.axis);
                       }) &&
           std::any_of(operands.begin(), operands.end(),
                       [&](const ir::Value* operand) { return is_looked_up(*operand, table); });
  }

  static bool is_looked_up(const ir::Value& operand, const ir::Value& table) {
    return analysis::same_shape(operand.type().shape, table.type().shape);
  }

  // Whether it is the same at every position of the axis, and broadcasts to the result as it did to the table.
  static bool is_same_everywhere(const ir::Node& lookup, const ir::Value& operand, const ir::Value& table,
                                 size_t axis) {
    const ir::Shape& shape = operand.type().shape;
    const ir::Shape& whole = table.type().shape;
    const ir::Shape& result = lookup.result()->type().shape;
    if (shape.empty()) {
      return true;
    }
    if (shape.size() != whole.size() || result.size() != whole.size() || !shape[axis].is(1)) {
      return false;
    }
    for (size_t other = 0; other < shape.size(); ++other) {
      if (!shape[other].is(1) && !shape[other].provably_equals(result[other])) {
        return false;
      }
    }
    return true;
  }

  static ir::AttributeMap attributes_of(const ir::Node& node) {
    ir::AttributeMap attributes;
    for (const auto& [key, attribute] : node.attributes()) {
      if (!key.starts_with(ir::kPassPrefix)) {
        attributes.emplace(key, attribute);
      }
    }
    return attributes;
  }

  static Result<void> turn_around(ir::Graph& graph, ir::Node& lookup, const Read& read) {
    const ir::Value& table = *lookup.operand(read.operand);
    ir::Node& computes = *table.producer();
    std::vector<ir::Value*> operands;
    for (ir::Value* operand : computes.operands()) {
      if (!is_looked_up(*operand, table)) {
        operands.push_back(operand);
        continue;
      }
      std::vector<ir::Value*> read_from = lookup.operands();
      read_from[static_cast<size_t>(read.operand)] = operand;
      TESSIQ_ASSIGN_OR_RETURN(ir::Node * first,
                              graph.add_node(lookup.op(), std::move(read_from), attributes_of(lookup),
                                             {{graph.unique_name(lookup.result()->name()),
                                               {operand->type().element, lookup.result()->type().shape, {}}}},
                                             &lookup));
      first->set_location(lookup.location());
      operands.push_back(first->result());
    }
    TESSIQ_ASSIGN_OR_RETURN(
        ir::Node * second,
        graph.add_node(computes.op(), std::move(operands), attributes_of(computes),
                       {{graph.unique_name(computes.result()->name()), lookup.result()->type()}}, &lookup));
    second->set_location(computes.location());
    graph.replace_all_uses(lookup.result(), second->result());
    TESSIQ_RETURN_IF_ERROR(graph.erase_node(&lookup));
    return {};
  }
};

TESSIQ_REGISTER_PASS(LookupsFirst);

}  // namespace
}  // namespace tessiq::passes
