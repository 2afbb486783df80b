// From a graph with every decision in it to a flat program.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "analysis/target.h"
#include "ir/graph.h"
#include "program/program.h"
#include "support/result.h"

namespace tessiq::program {

// What the graph itself does not say of a call: the calling convention. Read from PyTorch's graph by the importer.
struct InputBinding {
  std::string name;  // of the graph parameter, or of the integer
  bool is_tensor = true;
  // Where the argument itself is, seen from the caller.
  Place place = Place::kHost;
  // An integer argument's symbol; empty where no size needs it.
  std::string symbol;
};
struct ResultNone {};
struct ResultValue {
  std::string value;
};
struct ResultSize {
  ir::Extent size;
};
using ResultBinding = std::variant<ResultNone, ResultValue, ResultSize>;

struct CallingConvention {
  std::vector<InputBinding> inputs;
  std::vector<ResultBinding> results;
};

// Attribute of nodes whose results are views of operand 0: a list with one element offset a result, relative to where
// the operand starts.
inline constexpr std::string_view kViewOffsets = "tessiq.offsets";
// Attribute of a node whose result lives on the host although the graph's tensors are on the device: "host".
inline constexpr std::string_view kDevice = "tessiq.device";

// Requires the compile pipeline to have run. kInvalidArgument where a free symbol is bound by no input.
Result<Program> lower(const ir::Graph& graph, const CallingConvention& convention,
                      const analysis::TargetOptions& target);

}  // namespace tessiq::program
