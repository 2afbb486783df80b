// No pass changes what a graph computes: random graph, pass, and the same bits before and after.
//
// TESSIQ_FUZZ_GRAPHS sets how many graphs, TESSIQ_FUZZ_SEED where they start; a failure prints its seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "interpreter.h"
#include "ir/text/text.h"
#include "passes/manager/pass.h"
#include "random_program.h"

namespace tessiq::testing_support {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::vector<std::string> pipelines() {
  std::vector<std::string> pipelines = {"constant-fold,simplify,cse,dce", "simplify,constant-fold,simplify,cse,dce",
                                        std::string(passes::kCompilePipeline)};
  for (const passes::PassInfo& pass : passes::registered_passes()) {
    if (!pass.name.starts_with("test-")) {
      pipelines.push_back(pass.name);
    }
  }
  return pipelines;
}

class Legality : public testing::TestWithParam<std::string> {};

TEST_P(Legality, TheGraphComputesTheSameBits) {
  const uint64_t first = setting("TESSIQ_FUZZ_SEED", 0);
  const uint64_t last = first + setting("TESSIQ_FUZZ_GRAPHS", 400);
  uint64_t changed = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    const RandomProgram program = random_program(seed);
    const std::string before = ir::print(*program.graph);
    const auto expected = interpret(*program.graph, program.parameters, program.symbols);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.error().message() << "\n" << before;
    const auto records = passes::run_pipeline(*program.graph, GetParam(), {});
    ASSERT_TRUE(records.ok()) << "seed " << seed << ": " << records.error().message() << "\n" << before;
    const std::string after = ir::print(*program.graph);
    changed += before == after ? 0 : 1;
    const auto actual = interpret(*program.graph, program.parameters, program.symbols);
    ASSERT_TRUE(actual.ok()) << "seed " << seed << ": " << actual.error().message() << "\n" << after;
    ASSERT_TRUE(*expected == *actual) << "seed " << seed << "\n" << before << "\n" << after;
  }
  RecordProperty("graphs_changed", std::to_string(changed));
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    c = c == '-' || c == ',' ? '_' : c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, Legality, testing::ValuesIn(pipelines()), name_of);

// The fuzz proves something only where passes find work.
TEST(LegalityFuzz, GivesTheGeneralPassesWork) {
  for (const char* pass : {"dce", "cse", "simplify", "constant-fold"}) {
    int changed = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RandomProgram program = random_program(seed);
      changed += passes::run_pipeline(*program.graph, pass, {}).value().front().changed ? 1 : 0;
    }
    EXPECT_GE(changed, 20) << pass;
  }
}

}  // namespace
}  // namespace tessiq::testing_support
