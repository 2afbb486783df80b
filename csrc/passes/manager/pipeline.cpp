// Runs passes in order, and holds each to what pass.h says of it.
#include <chrono>
#include <utility>

#include "ir/text/text.h"
#include "ir/verifier.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Result<std::vector<std::unique_ptr<Pass>>> create_passes(std::string_view pipeline) {
  std::vector<std::unique_ptr<Pass>> passes;
  if (trimmed(pipeline).empty()) {
    return passes;
  }
  for (;;) {
    const size_t comma = pipeline.find(',');
    const std::string_view name = trimmed(pipeline.substr(0, comma));
    if (name.empty()) {
      return invalid_argument("pipeline has an empty name between commas; give pass names such as \"cse,dce\"");
    }
    TESSIQ_ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, create_pass(name));
    passes.push_back(std::move(pass));
    if (comma == std::string_view::npos) {
      return passes;
    }
    pipeline.remove_prefix(comma + 1);
  }
}

Result<PassRecord> run_one(Pass& pass, ir::Graph& graph, const TargetOptions& target, const PipelineOptions& options) {
  PassRecord record;
  record.name = pass.name();
  const auto start = std::chrono::steady_clock::now();
  Result<bool> changed = pass.run(graph, target);
  record.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!changed) {
    return std::move(changed).error().with_context("pass " + record.name);
  }
  record.changed = *changed;
  if (options.verify_each) {
    if (auto verified = ir::verify(graph); !verified) {
      return std::move(verified).error().with_context("after pass " + record.name);
    }
  }
  if (options.keep_ir) {
    record.ir_after = ir::print(graph);
  }
  return record;
}

}  // namespace

Result<std::vector<PassRecord>> run_pipeline(ir::Graph& graph, std::string_view pipeline, const TargetOptions& target,
                                             const PipelineOptions& options) {
  // Every name is resolved before the first pass runs: a misspelt one leaves the graph as it was.
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<Pass>> passes, create_passes(pipeline));
  std::vector<PassRecord> records;
  for (const std::unique_ptr<Pass>& pass : passes) {
    TESSIQ_ASSIGN_OR_RETURN(PassRecord record, run_one(*pass, graph, target, options));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace tessiq::passes
