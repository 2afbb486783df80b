// tessiq-opt as a stranger runs it: what it prints, where, and how it exits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string text;  // standard output and error, as they came
};

Outcome run(const std::string& arguments, const std::string& input = "") {
  const auto file =
      std::filesystem::path(testing::TempDir()) / ("tessiq_opt_input_" + std::to_string(getpid()) + ".tir");
  std::ofstream(file) << input;
  const std::string command = std::string(TESSIQ_OPT_PATH) + " " + arguments + " < " + file.string() + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome result;
  char buffer[4096];
  for (size_t count = 0; (count = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    result.text.append(buffer, count);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::filesystem::remove(file);
  return result;
}

constexpr const char* kGraph = "graph @main(%x: f32[4]) { %a: f32[4] = exp(%x) %b: f32[4] = exp(%x) return %b }";

TEST(TessiqOpt, PrintsTheGraphInItsCanonicalForm) {
  const Outcome result = run("", kGraph);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.text, "graph @main(%x: f32[4]) {\n  %a: f32[4] = exp(%x)\n  %b: f32[4] = exp(%x)\n  return %b\n}\n");
}

TEST(TessiqOpt, RunsPasses) {
  EXPECT_THAT(run("--passes dce", kGraph).text, testing::Not(HasSubstr("%a")));
  EXPECT_THAT(run("--passes compile --unclaimed device", kGraph).text, HasSubstr("tessiq.supported = true"));
  EXPECT_THAT(run("--passes compile --no-loops", kGraph).text, HasSubstr("tessiq.supported = false"));
  EXPECT_THAT(run("--passes cse,dce --timing", kGraph).text, HasSubstr(" ms  no change"));
  EXPECT_THAT(run("--passes dce --print-each", kGraph).text, HasSubstr("# after dce\n"));
}

TEST(TessiqOpt, EmitsTheSourceOfEveryGroup) {
  EXPECT_THAT(run("--emit cuda", kGraph).text, HasSubstr("__global__"));
  EXPECT_THAT(run("--emit host", kGraph).text, StartsWith("// group 0: "));
  EXPECT_EQ(run("--emit cuda --passes \"\"", kGraph).text, "// the graph has no fusion group\n");
}

constexpr const char* kProduct =
    "graph @main(%x: f32[s0, 4], %w: f32[4, 4]) { %a: f32[s0, 4] = mm(%x, %w) %b: f32[s0, 4] = mm(%a, %w) return %b }";

TEST(TessiqOpt, PrintsTheMemoryPlan) {
  EXPECT_EQ(run("--memory-plan --size s0=8", kProduct).text,
            "arena 256 bytes, peak 256\n  %a: 128 bytes at 0, nodes 0 to 1\n  %b: 128 bytes of its own, returned\n");
}

TEST(TessiqOpt, TheMemoryPlanAsksForSizes) {
  const Outcome result = run("--memory-plan", kProduct);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.text, HasSubstr("%a has size s0, which is no number: give it, as in --size s0=32"));
  EXPECT_THAT(run("--memory-plan --size s0", kProduct).text, HasSubstr("\"s0\" is no size"));
}

TEST(TessiqOpt, ListsPasses) {
  const Outcome result = run("--list-passes");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.text, HasSubstr("dce                  removes pure nodes whose results nobody reads\n"));
}

TEST(TessiqOpt, VerifiesWithoutPrinting) {
  const Outcome result = run("--verify-only", kGraph);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.text, "");
}

TEST(TessiqOpt, RefusedInputExitsWithOneAndThePlace) {
  const Outcome result = run("", "graph @main() {\n  return %x\n}");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.text, "tessiq-opt: standard input:2:10: %x is not defined before it is read\n");
}

TEST(TessiqOpt, ARefusingPassExitsWithOne) {
  const Outcome result = run("--passes infer-shapes", "graph @main(%x: f32[4]) { %a: f32[5] = exp(%x) return %a }");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.text, StartsWith("tessiq-opt: standard input: pass infer-shapes: %a is recorded as f32[5]"));
}

TEST(TessiqOpt, AWrongCommandLineExitsWithTwo) {
  EXPECT_EQ(run("--passes dec", kGraph).code, 2);
  EXPECT_THAT(run("--passes dec", kGraph).text,
              StartsWith("tessiq-opt: there is no pass \"dec\", did you mean \"dce\"?"));
  EXPECT_EQ(run("--emit metal", kGraph).code, 2);
  EXPECT_EQ(run("--nonsense", kGraph).code, 2);
  EXPECT_EQ(run("no/such/file").code, 2);
  EXPECT_EQ(run("/").code, 2);
  EXPECT_EQ(run("-o no/such/folder/out", kGraph).code, 2);
}

}  // namespace
