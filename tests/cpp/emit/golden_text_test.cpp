// What the emitters write, to the byte: tests/golden/emit/{cuda,host}/*.tir hold a graph with one fusion group, a line
// `----`, and the text without its prelude. TESSIQ_UPDATE_GOLDENS=1 rewrites the text; read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/emit/loop_kernel.h"
#include "ir/text/text.h"

namespace tessiq::emit {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const char* target : {"cuda", "host"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(TESSIQ_SOURCE_DIR) / "tests/golden/emit" / target)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class GoldenText : public testing::TestWithParam<fs::path> {};

TEST_P(GoldenText, IsWhatTheEmitterWrites) {
  const std::string file = content_of(GetParam());
  const std::string separator = "----\n";
  const size_t middle = std::min(file.find(separator), file.size());
  auto graph = ir::parse(file.substr(0, middle));
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  auto kernel = describe_loop(**graph, 0);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message();
  const bool cuda = GetParam().parent_path().filename() == "cuda";
  auto source = cuda ? emit_cuda(*kernel) : emit_host(*kernel);
  ASSERT_TRUE(source.ok()) << source.error().message();
  const char* update = std::getenv("TESSIQ_UPDATE_GOLDENS");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(GetParam(), std::ios::binary) << file.substr(0, middle) << separator << source->body.substr(1);
    return;
  }
  EXPECT_EQ(file.substr(std::min(middle + separator.size(), file.size())), source->body.substr(1));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenText, testing::ValuesIn(golden_files()),
                         [](const testing::TestParamInfo<fs::path>& file) {
                           std::string name =
                               file.param.parent_path().filename().string() + "_" + file.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tessiq::emit
