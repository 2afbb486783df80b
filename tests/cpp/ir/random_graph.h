// Graphs of arbitrary shape from a seed: every kind of type, attribute, symbol and node the text form can say.
//
// They mean nothing: operations are made up, and no pass would make sense of them.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/graph.h"

namespace tessiq::ir::testing_support {

std::unique_ptr<Graph> random_graph(uint64_t seed);

}  // namespace tessiq::ir::testing_support
