// Reading, running and rewriting golden files.
#include "golden/golden_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "golden/custom_operation.h"
#include "ir/text/text.h"

namespace tessiq::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeparator = "----\n";
constexpr std::string_view kPipeline = "# pipeline:";
constexpr std::string_view kTarget = "# target:";
constexpr std::string_view kError = "# error:";
constexpr std::string_view kOperation = "# operation:";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Result<void> read_target(std::string_view text, passes::TargetOptions& target) {
  std::stringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, ',');) {
    const std::string_view setting = trimmed(part);
    if (setting == "unclaimed=device") {
      target.unclaimed = analysis::UnclaimedPlace::kDevice;
    } else if (setting == "placement=claimed") {
      target.weighs_crossings = false;
    } else if (setting == "unclaimed=host") {
      target.unclaimed = analysis::UnclaimedPlace::kHost;
    } else if (setting == "loops=no") {
      target.has_generated_loops = false;
    } else if (setting == "matmul=no") {
      target.has_matmul = false;
    } else {
      return invalid_argument("unknown target \"" + std::string(setting) +
                              "\"; known: unclaimed=host, unclaimed=device, placement=claimed, loops=no, matmul=no");
    }
  }
  return {};
}

}  // namespace

Result<GoldenFile> read_golden(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  GoldenFile file;
  const size_t separator = text.find("\n" + std::string(kSeparator));
  file.header_and_input = separator == std::string::npos ? text : text.substr(0, separator + 1);
  if (separator != std::string::npos) {
    file.expected = text.substr(separator + 1 + kSeparator.size());
  }
  bool has_pipeline = false;
  std::stringstream lines(file.header_and_input);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kPipeline)) {
      file.pipeline = trimmed(std::string_view(line).substr(kPipeline.size()));
      has_pipeline = true;
    } else if (line.starts_with(kTarget)) {
      TESSIQ_RETURN_IF_ERROR(read_target(std::string_view(line).substr(kTarget.size()), file.target));
    } else if (line.starts_with(kOperation)) {
      TESSIQ_RETURN_IF_ERROR(register_operation(trimmed(std::string_view(line).substr(kOperation.size()))));
    } else if (line.starts_with(kError)) {
      file.error = trimmed(std::string_view(line).substr(kError.size()));
    }
  }
  if (!has_pipeline) {
    return invalid_argument("no line \"" + std::string(kPipeline) + " <passes>\"");
  }
  if (file.error.has_value() == (separator != std::string::npos)) {
    return invalid_argument("a golden file has either a line \"# error:\" or a line \"----\" and a graph after it");
  }
  return file;
}

Outcome run_golden(const GoldenFile& file) {
  auto graph = ir::parse(file.header_and_input);
  if (!graph) {
    return {true, graph.error().message()};
  }
  auto records = passes::run_pipeline(**graph, file.pipeline, file.target);
  return records ? Outcome{false, ir::print(**graph)} : Outcome{true, records.error().message()};
}

Result<void> update_golden(const fs::path& path, const GoldenFile& file, const Outcome& outcome) {
  std::string text;
  std::stringstream lines(file.header_and_input);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kError)) {
      line = outcome.refused ? std::string(kError) + " " + outcome.text : "";
    }
    text += line + "\n";
  }
  if (outcome.refused && !file.error) {
    return invalid_argument("the run was refused where a graph was expected: " + outcome.text);
  }
  if (!outcome.refused) {
    text += std::string(kSeparator) + outcome.text;
  }
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  return stream ? Result<void>() : external(path.string() + " cannot be written");
}

fs::path golden_folder() { return fs::path(TESSIQ_SOURCE_DIR) / "tests" / "golden"; }

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  if (!fs::exists(golden_folder())) {
    return files;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(golden_folder())) {
    const std::string name = entry.path().lexically_relative(golden_folder()).generic_string();
    // What stands under emit/ expects source text, and tests/cpp/emit reads it.
    if (entry.path().extension() == ".tir" && !name.starts_with("emit/")) {
      files.push_back(name);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tessiq::golden
