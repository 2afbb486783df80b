// A golden file: a pipeline, a graph, and what must come out, to the byte.
//
//   # pipeline: cse,dce
//   # target: unclaimed=device, placement=claimed, loops=no, matmul=no        optional; what is left out is as on a
//   full target graph @main(...) { ... }
//   ----
//   graph @main(...) { ... }
//
// A file that expects a refusal has a line `# error: <the whole message>` instead of everything from `----` on. Other
// comments say what the file is about.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "passes/manager/pass.h"
#include "support/result.h"

namespace tessiq::golden {

struct GoldenFile {
  std::string header_and_input;  // up to the separator; parsed whole, so that an error's line is the file's
  std::string pipeline;
  passes::TargetOptions target;
  std::optional<std::string> error;
  std::string expected;
};

Result<GoldenFile> read_golden(const std::filesystem::path& path);
// The text a run gives: the printed graph, or the message of the error.
struct Outcome {
  bool refused = false;
  std::string text;
};
Outcome run_golden(const GoldenFile& file);
// Rewrites what the file expects.
Result<void> update_golden(const std::filesystem::path& path, const GoldenFile& file, const Outcome& outcome);

// Every *.tir under tests/golden/ but those of emit/, sorted; relative to it.
std::vector<std::string> golden_files();
std::filesystem::path golden_folder();

}  // namespace tessiq::golden
