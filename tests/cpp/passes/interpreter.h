// Runs a graph of loops on small tensors, element by element: the oracle that a pass is held against.
//
// Slow and obvious on purpose. Knows operations only through the table; no pass, emitter or device is asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/scalar.h"
#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::testing_support {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<analysis::Scalar> elements;  // row-major

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// One a result of the graph. kUnsupported where a node is no loop.
Result<std::vector<Tensor>> interpret(const ir::Graph& graph, const std::vector<Tensor>& parameters,
                                      const std::map<std::string, int64_t, std::less<>>& symbols);

}  // namespace tessiq::testing_support
