// tessiq-opt: reads a graph as text, runs passes over it, and prints the graph or the kernels it becomes.
//
// No CUDA and no PyTorch: what a device would make of the text is not asked here. Exit codes: 0, done; 1, the input was
// refused; 2, the command line was.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "emit_groups.h"
#include "ir/text/text.h"
#include "memory_plan_text.h"
#include "passes/manager/pass.h"

namespace {

namespace ir = tessiq::ir;
namespace passes = tessiq::passes;
using tessiq::analysis::UnclaimedPlace;

constexpr int kRefused = 1;
constexpr int kUsage = 2;

struct Options {
  std::string file = "-";
  std::string output = "-";
  std::optional<std::string> pipeline;
  std::string emit;
  std::string unclaimed = "host";
  std::string placement = "weighed";
  std::vector<std::string> sizes;
  bool memory_plan = false;
  bool list_passes = false;
  bool verify_only = false;
  bool print_each = false;
  bool timing = false;
  bool no_loops = false;
  bool no_matmul = false;
  bool no_convolution = false;
};

void declare(CLI::App& app, Options& options) {
  app.add_option("file", options.file, "graph to read; - is standard input")->capture_default_str();
  app.add_option("-o,--output", options.output, "file to write; - is standard output")->capture_default_str();
  app.add_option("--passes", options.pipeline,
                 "passes to run, separated by commas; \"compile\" is what torch.compile runs");
  app.add_flag("--list-passes", options.list_passes, "print the passes that exist, and nothing else");
  app.add_flag("--verify-only", options.verify_only, "check the graph, run the passes, print nothing");
  app.add_flag("--print-each", options.print_each, "print the graph after every pass, to standard error");
  app.add_flag("--timing", options.timing,
               "print each pass's time and whether it changed the graph, to standard error");
  app.add_option("--unclaimed", options.unclaimed, "where operations run that no kernel of ours runs")
      ->check(CLI::IsMember({"host", "device"}))
      ->capture_default_str();
  app.add_option("--placement", options.placement, "whether work on the device has to be worth its crossings")
      ->check(CLI::IsMember({"weighed", "claimed"}))
      ->capture_default_str();
  app.add_option("--emit", options.emit,
                 "print the source of every fusion group; runs \"compile\" unless --passes is given")
      ->check(CLI::IsMember({"cuda", "host"}));
  app.add_flag("--memory-plan", options.memory_plan,
               "print where each value lies in the arena; runs \"compile\" unless --passes is given")
      ->excludes("--emit");
  app.add_option("--size", options.sizes, "the value of a symbol for --memory-plan, as in s0=32");
  app.add_flag("--no-loops", options.no_loops, "a target without a compiler for generated loops");
  app.add_flag("--no-matmul", options.no_matmul, "a target without a library for matrix products");
  app.add_flag("--no-convolution", options.no_convolution, "a target without a library for convolutions");
}

passes::TargetOptions target_of(const Options& options) {
  passes::TargetOptions target;
  target.unclaimed = options.unclaimed == "device" ? UnclaimedPlace::kDevice : UnclaimedPlace::kHost;
  target.weighs_crossings = options.placement == "weighed";
  target.has_generated_loops = !options.no_loops;
  target.has_matmul = !options.no_matmul;
  target.has_convolution = !options.no_convolution;
  return target;
}

std::string pipeline_of(const Options& options) {
  const std::string chosen = options.pipeline.value_or(options.emit.empty() && !options.memory_plan ? "" : "compile");
  return chosen == "compile" ? std::string(passes::kCompilePipeline) : chosen;
}

int complain(int code, const std::string& message) {
  std::fprintf(stderr, "tessiq-opt: %s\n", message.c_str());
  return code;
}

std::optional<std::string> read_all(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream stream(path, std::ios::binary);
  // A folder opens, and fails when it is read.
  stream.peek();
  if (!stream.is_open() || stream.bad()) {
    return std::nullopt;
  }
  text << stream.rdbuf();
  return text.str();
}

bool write_all(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return static_cast<bool>(std::cout);
  }
  std::ofstream stream(path, std::ios::binary);
  stream << text << std::flush;
  return static_cast<bool>(stream);
}

int list_passes() {
  for (const passes::PassInfo& pass : passes::registered_passes()) {
    std::printf("%-20s %s\n", pass.name.c_str(), pass.description.c_str());
  }
  return 0;
}

void report(const std::vector<passes::PassRecord>& records, const Options& options) {
  for (const passes::PassRecord& record : records) {
    if (options.timing) {
      std::fprintf(stderr, "%-20s %9.3f ms  %s\n", record.name.c_str(), record.milliseconds,
                   record.changed ? "changed" : "no change");
    }
    if (options.print_each) {
      std::fprintf(stderr, "# after %s\n%s\n", record.name.c_str(), record.ir_after.c_str());
    }
  }
}

tessiq::Result<std::string> output_of(const ir::Graph& graph, const Options& options) {
  if (options.memory_plan) {
    TESSIQ_ASSIGN_OR_RETURN(tessiq::opt::SymbolSizes sizes, tessiq::opt::parse_sizes(options.sizes));
    return tessiq::opt::memory_plan_text(graph, std::move(sizes));
  }
  if (options.emit.empty()) {
    return ir::print(graph);
  }
  using tessiq::opt::Target;
  return tessiq::opt::emit_groups(graph, options.emit == "cuda" ? Target::kCuda : Target::kHost);
}

int run(const Options& options) {
  const std::string shown = options.file == "-" ? "standard input" : options.file;
  const std::optional<std::string> text = read_all(options.file);
  if (!text) {
    return complain(kUsage, shown + " cannot be read");
  }
  auto graph = ir::parse(*text);
  if (!graph) {
    return complain(kRefused, shown + ":" + graph.error().message());
  }
  passes::PipelineOptions pipeline;
  pipeline.keep_ir = options.print_each;
  auto records = passes::run_pipeline(**graph, pipeline_of(options), target_of(options), pipeline);
  if (!records) {
    // A misspelt pass is the command line's fault, everything else the graph's.
    const bool is_usage = records.error().code() == tessiq::ErrorCode::kNotFound;
    return complain(is_usage ? kUsage : kRefused,
                    is_usage ? records.error().message() : shown + ": " + records.error().message());
  }
  report(*records, options);
  if (options.verify_only) {
    return 0;
  }
  auto result = output_of(**graph, options);
  if (!result) {
    return complain(kRefused, shown + ": " + result.error().message());
  }
  return write_all(options.output, *result) ? 0 : complain(kUsage, options.output + " cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs passes of the tessiq compiler over a graph in text form.", "tessiq-opt");
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return options.list_passes ? list_passes() : run(options);
}
