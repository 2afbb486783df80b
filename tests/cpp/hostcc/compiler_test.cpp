// Finding and running the system's compiler, and what is said where there is none.
#include <gtest/gtest.h>

#include "codegen/hostcc/compile_loops.h"
#include "codegen/hostcc/compiler.h"
#include "codegen/loaded_kernel.h"
#include "hostcc/scoped_environment.h"

namespace tessiq::hostcc {
namespace {

TEST(Compiler, IsFoundOnPath) {
  const ScopedEnvironment own("TESSIQ_CXX", std::nullopt);
  const ScopedEnvironment standard("CXX", std::nullopt);
  auto compiler = find_compiler();
  ASSERT_TRUE(compiler.ok()) << compiler.error().message();
  EXPECT_EQ(compiler->path.front(), '/');
}

TEST(Compiler, TessiqCxxGoesBeforeCxx) {
  const ScopedEnvironment own("TESSIQ_CXX", "/bin/false");
  const ScopedEnvironment standard("CXX", "/bin/true");
  auto compiler = find_compiler();
  ASSERT_TRUE(compiler.ok());
  EXPECT_EQ(compiler->path, "/bin/false");
}

TEST(Compiler, NoneOnPathIsUnsupportedAndSaysWhatWasSought) {
  const ScopedEnvironment own("TESSIQ_CXX", std::nullopt);
  const ScopedEnvironment standard("CXX", std::nullopt);
  const ScopedEnvironment path("PATH", "/nonexistent");
  const emit::LoopKernel kernel;
  auto loaded = compile_loops({&kernel, 1});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(loaded.error().message().find("clang++"), std::string::npos);
}

TEST(Compiler, ANamedOneThatIsNotThereIsUnsupported) {
  const ScopedEnvironment own("TESSIQ_CXX", "no-such-compiler");
  auto compiler = find_compiler();
  ASSERT_FALSE(compiler.ok());
  EXPECT_EQ(compiler.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(compiler.error().message().find("no-such-compiler"), std::string::npos);
}

TEST(Compiler, ItsWholeOutputIsInTheError) {
  auto compiler = find_compiler();
  ASSERT_TRUE(compiler.ok());
  auto code = compile_shared_object(*compiler, "int f() { return undeclared_name; }\n");
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().code(), ErrorCode::kExternal);
  EXPECT_NE(code.error().message().find("undeclared_name"), std::string::npos);
}

TEST(Compiler, OneThatFailsWithoutAWordIsAnError) {
  auto code = compile_shared_object({"/bin/false", ""}, "int f();\n");
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().code(), ErrorCode::kExternal);
}

TEST(Compiler, AnEmptyRequestNeedsNone) {
  const ScopedEnvironment path("PATH", "/nonexistent");
  auto loaded = compile_loops({});
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(loaded->empty());
}

}  // namespace
}  // namespace tessiq::hostcc
