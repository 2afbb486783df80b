// Every kernel that is shipped, from its own file, for each element type that its definition states, through NVRTC.
// Needs no GPU.
#if TESSIQ_HAS_CUDA

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "codegen/emit/written_source.h"
#include "codegen/nvrtc/compiler.h"
#include "codegen/nvrtc/written_kernel.h"

namespace tessiq::nvrtc {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Folders with a kernel, the template among them.
std::vector<std::string> operations_with_a_kernel() {
  std::vector<std::string> names;
  for (const auto& folder : fs::directory_iterator(fs::path(TESSIQ_SOURCE_DIR) / "csrc/custom_ops")) {
    const std::string name = folder.path().filename().string();
    if (fs::exists(folder.path() / (name + ".cu"))) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Definitions need PyTorch, which these tests do without: the line that states the types is read as text.
std::vector<ir::ElementType> declared_types(const std::string& definition) {
  const size_t start = definition.find("element_types = {");
  const std::string line =
      start == std::string::npos ? "" : definition.substr(start, definition.find(';', start) - start);
  std::vector<ir::ElementType> types;
  for (const auto& [name, type] : {std::pair{"at::kHalf", ir::ElementType::kFloat16},
                                   {"at::kBFloat16", ir::ElementType::kBFloat16},
                                   {"at::kFloat", ir::ElementType::kFloat32},
                                   {"at::kDouble", ir::ElementType::kFloat64}}) {
    if (line.find(name) != std::string::npos) {
      types.push_back(type);
    }
  }
  return types;
}

class ShippedOperation : public testing::TestWithParam<std::string> {
 protected:
  static fs::path file(const std::string& name) {
    return fs::path(TESSIQ_SOURCE_DIR) / "csrc/custom_ops" / GetParam() / name;
  }
  static WrittenKernel kernel(ir::ElementType element) {
    return {GetParam(), emit::written_source(GetParam(), read(file(GetParam() + ".cu")), element)};
  }
};

TEST_P(ShippedOperation, CompilesForEveryDeclaredTypeAndArchitecture) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const std::vector<ir::ElementType> types = declared_types(read(file("definition.cpp")));
  ASSERT_FALSE(types.empty());
  const std::vector<std::string> architectures = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
  for (const ir::ElementType type : types) {
    const auto tried = try_written_kernel(kernel(type), architectures);
    EXPECT_TRUE(tried.ok()) << element_type_name(type) << ": " << tried.error().message();
  }
}

// One bare constant makes the whole of an expression double; a call through a pointer keeps a combination from being
// compiled into the loop that needs it; one index that is not known while compiling puts a held row into memory.
TEST_P(ShippedOperation, ComputesInFloatInRegistersAndCallsNothing) {
  if (auto found = version(); !found) {
    GTEST_SKIP() << found.error().message();
  }
  const auto ptx = compile(kernel(ir::ElementType::kBFloat16).source, "compute_90");
  ASSERT_TRUE(ptx.ok()) << ptx.error().message();
  EXPECT_EQ(ptx->find(".f64"), std::string::npos);
  EXPECT_EQ(ptx->find("call"), std::string::npos);
  EXPECT_EQ(ptx->find(".local"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ShippedOperation, testing::ValuesIn(operations_with_a_kernel()),
                         [](const auto& kernel) { return "of_" + kernel.param; });

}  // namespace
}  // namespace tessiq::nvrtc

#endif  // TESSIQ_HAS_CUDA
