// Graphs and nodes of the tests, from text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "ir/text/text.h"

namespace tessiq::analysis {

inline std::unique_ptr<ir::Graph> parsed(std::string_view text) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message();
  return graph ? *std::move(graph) : std::make_unique<ir::Graph>();
}

// The graph of one statement, `%x: f32[4] = relu(%a)`, over the parameters given.
inline std::unique_ptr<ir::Graph> one_node(const std::string& parameters, const std::string& statement) {
  const std::string result = statement.substr(0, statement.find(':'));
  return parsed("graph @main(" + parameters + ") {\n  " + statement + "\n  return " + result + "\n}\n");
}

inline ir::Node& only_node(ir::Graph& graph) { return *graph.nodes().front(); }

}  // namespace tessiq::analysis
