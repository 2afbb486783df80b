// A graph from import to executor, with everything a report wants to know kept beside it: the recipe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/manager/pass.h"
#include "program/lower.h"
#include "pytorch/executor/executor.h"

namespace tessiq::pytorch {

struct CompileOptions {
  DeviceIndex device{};
  analysis::UnclaimedPlace unclaimed = analysis::UnclaimedPlace::kHost;
  // Claims nothing: every operation goes through PyTorch. The oracle the compiled result is compared with.
  bool interpret = false;
  bool keep_ir = false;  // the graph after every pass, for reports
  std::vector<bool> kept_inputs;
};

struct CompiledGraph {
  std::string imported;  // text form, before any pass
  std::string final;     // after the last
  std::vector<passes::PassRecord> passes;
  double pass_milliseconds = 0;
  double kernel_milliseconds = 0;  // compiling and loading kernels
  std::unique_ptr<Executor> executor;
};

// Runs the pipeline on `graph` (which it changes), lowers it, and compiles its kernels for the device. Without a
// compiler for the device's kernels the graph is interpreted, and a warning says so once.
Result<std::shared_ptr<CompiledGraph>> compile_graph(ir::Graph& graph, const program::CallingConvention& convention,
                                                     const CompileOptions& options);

}  // namespace tessiq::pytorch
