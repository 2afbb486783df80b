// Graphs that mean something, from a seed: loops of the table over small tensors, rich in what passes look for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interpreter.h"
#include "ir/graph.h"

namespace tessiq::testing_support {

struct RandomProgram {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Tensor> parameters;
  std::map<std::string, int64_t, std::less<>> symbols;
};

RandomProgram random_program(uint64_t seed);

}  // namespace tessiq::testing_support
