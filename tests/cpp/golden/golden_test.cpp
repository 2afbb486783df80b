// One test a golden file, and what every pass owes on the input of every golden file.
//
// TESSIQ_UPDATE_GOLDENS=1 rewrites what the files expect; read the difference before it is committed.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <string>

#include "golden/golden_file.h"
#include "ir/text/text.h"
#include "ir/verifier.h"

namespace tessiq::golden {
namespace {

bool is_updating() {
  const char* value = std::getenv("TESSIQ_UPDATE_GOLDENS");
  return value != nullptr && std::string_view(value) == "1";
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - std::string_view(".tir").size());
  for (char& c : name) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  GoldenFile read() const {
    auto file = read_golden(golden_folder() / GetParam());
    EXPECT_TRUE(file.ok()) << file.error().message();
    return file ? *file : GoldenFile{};
  }
};

TEST_P(Golden, GivesWhatTheFileExpects) {
  const GoldenFile file = read();
  const Outcome outcome = run_golden(file);
  if (is_updating()) {
    const auto updated = update_golden(golden_folder() / GetParam(), file, outcome);
    ASSERT_TRUE(updated.ok()) << updated.error().message();
    return;
  }
  ASSERT_EQ(outcome.refused, file.error.has_value()) << outcome.text;
  EXPECT_EQ(outcome.text, file.error.value_or(file.expected)) << "rewrite with ./dev golden --update";
}

// The loop that runs a pipeline until nothing changes ends only if the flag is true, and true only if something
// changed.
TEST_P(Golden, EveryPassReportsExactlyItsChangesAndNoneTheSecondTime) {
  const GoldenFile file = read();
  for (const passes::PassInfo& pass : passes::registered_passes()) {
    SCOPED_TRACE(pass.name);
    auto graph = ir::parse(file.header_and_input);
    if (!graph) {
      return;
    }
    const std::string before = ir::print(**graph);
    const auto first = passes::run_pipeline(**graph, pass.name, file.target);
    if (!first) {
      // A refusal is an answer; a graph that no longer verifies is not.
      EXPECT_NE(first.error().code(), ErrorCode::kInternal) << first.error().message();
      continue;
    }
    const std::string after = ir::print(**graph);
    EXPECT_EQ(first->front().changed, before != after);
    const auto second = passes::run_pipeline(**graph, pass.name, file.target);
    ASSERT_TRUE(second.ok()) << second.error().message();
    EXPECT_FALSE(second->front().changed);
    EXPECT_EQ(ir::print(**graph), after);
  }
}

TEST_P(Golden, WhatIsExpectedParsesAndPrintsToItself) {
  const GoldenFile file = read();
  if (file.error) {
    return;
  }
  auto graph = ir::parse(file.expected);
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(ir::print(**graph), file.expected);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), test_name);

TEST(GoldenFiles, AreThere) { EXPECT_GE(golden_files().size(), 40u); }

}  // namespace
}  // namespace tessiq::golden
