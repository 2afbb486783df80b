// A graph for every expression of the operation table and every type it computes in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/element_step.h"
#include "ir/graph.h"
#include "optable/lookup.h"

namespace tessiq::loop_case {

// Where operands and results lie: strides as symbols, so that one kernel serves every layout, or packed with known
// extents, where the emitters put numbers in.
enum class RowShape { kSymbolicStrides, kPacked };

struct RowGraph {
  std::string title;  // "clamp.1 bf16"
  std::unique_ptr<ir::Graph> graph;
};

inline ir::TensorType row_type(ir::ElementType element, const std::string& name, RowShape shape) {
  if (shape == RowShape::kPacked) {
    return {element, {8, 12}, std::nullopt};
  }
  auto symbol = [](const std::string& text) { return ir::Extent::symbol(text); };
  return {element, {symbol("rows"), symbol("columns")}, std::vector{symbol(name + "_0"), symbol(name + "_1")}};
}

// Null where the row has no step for these types.
inline std::unique_ptr<ir::Graph> row_graph(const optable::OpInfo& op, const std::vector<optable::Condition>& when,
                                            ir::ElementType type, RowShape shape) {
  for (const optable::Condition& condition : when) {
    // A fraction makes PyTorch's result a floating type, and it refuses integers to negative powers.
    const bool no_natural =
        condition.test == optable::Condition::Test::kNumber &&
        (condition.number < 0 || condition.number != static_cast<double>(static_cast<int64_t>(condition.number)));
    if (no_natural && ir::is_integral(type)) {
      return nullptr;
    }
  }
  auto graph = std::make_unique<ir::Graph>();
  ir::AttributeMap attributes;
  std::vector<ir::Value*> operands;
  for (int position = 0; position < op.arity; ++position) {
    const std::string key = std::to_string(position);
    const optable::Condition* condition = nullptr;
    for (const optable::Condition& candidate : when) {
      condition = candidate.key == key ? &candidate : condition;
    }
    using Test = optable::Condition::Test;
    if (condition != nullptr && condition->test == Test::kAbsent) {
      attributes[key] = ir::None{};
    } else if (condition != nullptr && condition->test == Test::kNumber) {
      attributes[key] = condition->number;
    } else {
      const bool is_bool = ((op.bool_arguments >> position) & 1U) != 0;
      const ir::ElementType element = is_bool ? ir::ElementType::kBool : type;
      const std::string name = "p" + key;
      operands.push_back(*graph->add_parameter(name, row_type(element, name, shape)));
    }
  }
  for (const optable::Condition& condition : when) {
    const bool positional = condition.key.find_first_not_of("0123456789") == std::string_view::npos;
    if (positional && std::stoi(std::string(condition.key)) < op.arity) {
      continue;
    }
    using Test = optable::Condition::Test;
    if (condition.test == Test::kPresent) {
      attributes[std::string(condition.key)] = 1.5;
    } else if (condition.test == Test::kNumber) {
      attributes[std::string(condition.key)] = condition.number;
    } else if (condition.test == Test::kText) {
      attributes[std::string(condition.key)] = std::string(condition.text);
    }
  }
  const ir::ElementType result = op.compute == optable::ComputeType::kResult ? type : ir::ElementType::kBool;
  auto node = graph->add_node(std::string(op.aten.empty() ? op.name : op.aten.front()), operands, attributes,
                              {{"q", row_type(result, "q", shape)}});
  if (!node) {
    return nullptr;
  }
  (*node)->set_attribute("tessiq.group", int64_t{0});
  graph->set_results({(*node)->result()});
  const auto step = analysis::element_step(**node, op);
  return step && op.accepts(step->operates_on) ? std::move(graph) : nullptr;
}

inline std::vector<RowGraph> row_graphs(ir::ElementType type, RowShape shape) {
  std::vector<RowGraph> graphs;
  for (const optable::OpInfo* op : optable::all_ops()) {
    if (!op->has_expression()) {
      continue;
    }
    std::vector<std::vector<optable::Condition>> cases;
    for (const optable::ExpressionCase& one : op->cases) {
      cases.push_back(one.when);
    }
    if (cases.empty()) {
      cases.emplace_back();
    }
    for (size_t k = 0; k < cases.size(); ++k) {
      auto graph = row_graph(*op, cases[k], type, shape);
      if (graph != nullptr) {
        const std::string number = cases.size() == 1 ? "" : "." + std::to_string(k);
        graphs.push_back(
            {std::string(op->name) + number + " " + std::string(ir::element_type_name(type)), std::move(graph)});
      }
    }
  }
  return graphs;
}

}  // namespace tessiq::loop_case
