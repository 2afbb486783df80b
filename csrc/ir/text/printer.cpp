// A graph as text. Everything is printed in list order, so equal graphs give equal bytes.
#include "ir/text/text.h"

namespace tessiq::ir {
namespace {

void append_values(std::string& text, const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    text += i == 0 ? "%" : ", %";
    text += values[i]->name();
  }
}

void append_typed(std::string& text, const Value& value) {
  text += "%" + value.name() + ": " + value.type().to_string();
}

void append_node(std::string& text, const Node& node) {
  for (int i = 0; i < node.result_count(); ++i) {
    text += i == 0 ? "" : ", ";
    append_typed(text, *node.result(i));
  }
  text += node.result_count() > 0 ? " = " : "";
  text += node.op() + "(";
  append_values(text, node.operands());
  text += ")";
  if (node.attributes().empty()) {
    return;
  }
  std::string_view separator = " {";
  for (const auto& [key, attribute] : node.attributes()) {
    text += separator;
    text += key + " = " + attribute_to_string(attribute);
    separator = ", ";
  }
  text += "}";
}

}  // namespace

std::string print(const Graph& graph) {
  std::string text = "graph @" + graph.name() + "(";
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    text += i == 0 ? "" : ", ";
    append_typed(text, *graph.parameters()[i]);
  }
  text += ") {\n";
  for (const SymbolDefinition& symbol : graph.symbols()) {
    text += "  symbol " + symbol.name;
    text += symbol.expression ? " = " + symbol.expression->to_string() + "\n" : "\n";
  }
  for (const auto& node : graph.nodes()) {
    text += "  ";
    append_node(text, *node);
    text += "\n";
  }
  text += graph.results().empty() ? "  return" : "  return ";
  append_values(text, graph.results());
  return text + "\n}\n";
}

std::string print(const Node& node) {
  std::string text;
  append_node(text, node);
  return text;
}

}  // namespace tessiq::ir
