// The stages of a compile, in order.
#include "pytorch/executor/compiled_graph.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "codegen/libraries/convolution.h"
#include "ir/text/text.h"
#include "pytorch/custom/operation.h"
#include "pytorch/device/identity.h"
#include "pytorch/executor/custom.h"
#include "support/log.h"

namespace tessiq::pytorch {
namespace {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

analysis::TargetOptions target_of(const CompileOptions& options, bool has_compiler) {
  analysis::TargetOptions target;
  target.unclaimed = options.unclaimed;
  target.has_generated_loops = has_compiler && !options.interpret;
  target.has_matmul = !options.interpret;
  const Device& device = device_at(options.device);
  target.weighs_crossings = options.weighs_crossings && device.kind() == DeviceKind::kCuda;
  // The reference device runs PyTorch's operator, as it does for products.
  target.has_convolution =
      !options.interpret && (device.kind() != DeviceKind::kCuda || libraries::has_convolutions(device));
  return target;
}

// Rewrites look for operations as they were imported; what is replaced must be gone before claims are made. What is
// interpreted runs what the graph says.
std::string pipeline_of(const CompileOptions& options, const ir::Graph& graph) {
  std::string pipeline;
  if (options.interpret) {
    return std::string(passes::kCompilePipeline);
  }
  for (const std::string& name : options.rewrites) {
    pipeline += name + ",";
  }
  for (const custom::Operation* operation : custom::operations()) {
    const auto& nodes = graph.nodes();
    if (operation->replaces_in_graphs() && std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
          return node->op() == operation->replaced_in_graphs();
        })) {
      pipeline += passes::replacement_pass_name(operation->name) + ",";
    }
  }
  return pipeline + std::string(passes::kCompilePipeline);
}

// One attempt with the given target. `graph` is changed.
Result<std::shared_ptr<Recipe>> attempt(ir::Graph& graph, const program::CallingConvention& convention,
                                        const CompileOptions& options, bool has_compiler) {
  auto recipe = std::make_shared<Recipe>();
  const analysis::TargetOptions target = target_of(options, has_compiler);
  recipe->imported = ir::print(graph);
  const Stopwatch pass_time;
  passes::PipelineOptions pipeline;
  pipeline.keep_ir = options.keep_ir;
  pipeline.verify_each = TESSIQ_CHECKS != 0;
  TESSIQ_ASSIGN_OR_RETURN(recipe->passes, passes::run_pipeline(graph, pipeline_of(options, graph), target, pipeline));
  recipe->final = ir::print(graph);
  TESSIQ_ASSIGN_OR_RETURN(recipe->program, program::lower(graph, convention, target));
  recipe->pass_milliseconds = pass_time.milliseconds();

  const Stopwatch kernel_time;
  TESSIQ_ASSIGN_OR_RETURN(recipe->kernels, codegen::compile_loops(device_at(options.device), recipe->program.kernels));
  TESSIQ_RETURN_IF_ERROR(load_custom_kernels(recipe->program, options.device));
  recipe->kernel_milliseconds = kernel_time.milliseconds();
  recipe->device = options.device;
  recipe->kept_inputs = options.kept_inputs;
  return recipe;
}

void warn_interpreting(const Error& error) {
  static std::once_flag once;
  std::call_once(once, [&error] {
    log_warning("compile", "generated loops are off, graphs are interpreted through PyTorch: " + error.message());
  });
}

}  // namespace

CompiledGraph::CompiledGraph(std::shared_ptr<const Recipe> from, std::string name)
    : recipe(std::move(from)),
      executor(recipe->program, recipe->kernels, recipe->device, recipe->kept_inputs),
      callee{std::move(name), std::shared_ptr<const program::Program>(recipe, &recipe->program), recipe->device,
             &device_at(recipe->device)} {}

Result<std::shared_ptr<Recipe>> compile_graph(ir::Graph& graph, const program::CallingConvention& convention,
                                              const CompileOptions& options) {
  const std::string imported = ir::print(graph);
  auto recipe = attempt(graph, convention, options, true);
  if (recipe || recipe.error().code() != ErrorCode::kUnsupported) {
    return recipe;
  }
  warn_interpreting(recipe.error());
  // The passes have written a compiler's decisions into the graph; start again from what was imported.
  TESSIQ_ASSIGN_OR_RETURN(auto fresh, ir::parse(imported));
  return attempt(*fresh, convention, options, false);
}

}  // namespace tessiq::pytorch
