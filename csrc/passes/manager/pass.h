// A pass: a named function from a graph to a graph, registered by the file that holds it.
//
// Registration runs in the initialiser of a global object, so the passes library is linked whole-archive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/target.h"
#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::passes {

using analysis::TargetOptions;

class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  // Whether the graph changed: true only if something did, since a pipeline may loop until nothing changes.
  virtual Result<bool> run(ir::Graph& graph, const TargetOptions& target) = 0;
};

using PassFactory = std::function<std::unique_ptr<Pass>()>;

struct PassInfo {
  std::string name;
  std::string description;
};

// Called by TESSIQ_REGISTER_PASS, and at run time for custom operations, while other threads may compile. Aborts on a
// name already taken: two passes would answer to one word.
bool register_pass(const PassFactory& factory);
bool has_pass(std::string_view name);
std::vector<PassInfo> registered_passes();  // by name
// kNotFound lists the passes that exist and the nearest name.
Result<std::unique_ptr<Pass>> create_pass(std::string_view name);

struct PassRecord {
  std::string name;
  bool changed = false;
  double milliseconds = 0;
  std::string ir_after;  // filled only when asked for
};

struct PipelineOptions {
  bool verify_each = true;
  bool keep_ir = false;
};

// `pipeline` is a comma-separated list of pass names; spaces around names are ignored, an empty one runs nothing.
Result<std::vector<PassRecord>> run_pipeline(ir::Graph& graph, std::string_view pipeline, const TargetOptions& target,
                                             const PipelineOptions& options = {});

// What every compiled graph goes through, in order.
inline constexpr std::string_view kCompilePipeline =
    "lookups-first,mark-supported,layout-assign,cluster,place-clusters,inline-constants,fuse-elementwise,"
    "fuse-reductions,fuse-loops,recompute";

}  // namespace tessiq::passes

#define TESSIQ_REGISTER_PASS(PassType)                                                               \
  [[maybe_unused]] static const bool tessiq_registered_##PassType = ::tessiq::passes::register_pass( \
      []() -> std::unique_ptr<::tessiq::passes::Pass> { return std::make_unique<PassType>(); })
