// What was decided about a graph, once: the recipe; and a compiled graph, which carries it out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/manager/pass.h"
#include "profiling/region.h"
#include "program/lower.h"
#include "pytorch/executor/executor.h"

namespace tessiq::pytorch {

struct CompileOptions {
  DeviceIndex device{};
  analysis::UnclaimedPlace unclaimed = analysis::UnclaimedPlace::kHost;
  // Leaves work on the host that is worth less than its copies to the device, where tensors are on the host and the
  // device is a GPU. The reference device is no faster than the host, so nothing would ever be worth it there.
  bool weighs_crossings = true;
  // Claims nothing: every operation goes through PyTorch. The oracle the compiled result is compared with.
  bool interpret = false;
  std::vector<std::string> rewrites;  // patterns of custom operations to look for, by name
  bool keep_ir = false;               // the graph after every pass, for reports
  std::vector<bool> kept_inputs;
};

// Names and numbers, no pointer into the graph it came from: several compiled graphs may share one.
struct Recipe {
  std::string imported;  // text form, before any pass
  std::string final;     // after the last
  std::vector<passes::PassRecord> passes;
  double pass_milliseconds = 0;
  double kernel_milliseconds = 0;  // compiling and loading kernels
  program::Program program;
  std::vector<std::shared_ptr<codegen::LoadedKernel>> kernels;  // the program's, loaded for `device`
  DeviceIndex device{};
  std::vector<bool> kept_inputs;
};

// One call site's: the copies it keeps and the counts of its calls are its own.
struct CompiledGraph {
  // `name` is what a profile calls it.
  CompiledGraph(std::shared_ptr<const Recipe> from, std::string name);

  std::shared_ptr<const Recipe> recipe;
  Executor executor;
  profiling::Callee callee;
};

// Runs the pipeline on `graph` (which it changes), lowers it, and compiles its kernels for the device. Without a
// compiler for the device's kernels the graph is interpreted, and a warning says so once.
Result<std::shared_ptr<Recipe>> compile_graph(ir::Graph& graph, const program::CallingConvention& convention,
                                              const CompileOptions& options);

}  // namespace tessiq::pytorch
