// The registry and the pipeline: names, order, records, and blame for a pass that breaks the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using testing::HasSubstr;

// Registered here and nowhere else: tests of the manager need passes that misbehave.
class BreaksTheGraph : public Pass {
 public:
  std::string_view name() const override { return "test-breaks-the-graph"; }
  std::string_view description() const override { return "assigns an operand behind the graph's back"; }
  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    ir::Node* node = graph.nodes().back().get();
    const_cast<std::vector<ir::Value*>&>(node->operands())[0] = graph.parameters().back().get();
    return true;
  }
};
TESSIQ_REGISTER_PASS(BreaksTheGraph);

class Refuses : public Pass {
 public:
  std::string_view name() const override { return "test-refuses"; }
  std::string_view description() const override { return "returns an error"; }
  Result<bool> run(ir::Graph&, const TargetOptions&) override { return unsupported("not today"); }
};
TESSIQ_REGISTER_PASS(Refuses);

std::unique_ptr<ir::Graph> graph() {
  return ir::parse("graph @main(%x: f32[4], %y: f32[4]) { %a: f32[4] = exp(%x) %b: f32[4] = exp(%x) return %b }")
      .value();
}

TEST(RegistryTest, ListsPassesByNameWithDescriptions) {
  const std::vector<PassInfo> passes = registered_passes();
  ASSERT_GE(passes.size(), 9u);
  for (size_t i = 1; i < passes.size(); ++i) {
    EXPECT_LT(passes[i - 1].name, passes[i].name);
  }
  for (const PassInfo& pass : passes) {
    EXPECT_FALSE(pass.description.empty()) << pass.name;
  }
}

TEST(RegistryTest, AMisspeltNameGetsTheNearestOneAndTheList) {
  const auto pass = create_pass("constant-flod");
  ASSERT_FALSE(pass.ok());
  EXPECT_EQ(pass.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(
      pass.error().message(),
      HasSubstr("there is no pass \"constant-flod\", did you mean \"constant-fold\"?; passes: cluster, constant-fold"));
}

TEST(RegistryTest, ANameLikeNoneGetsOnlyTheList) {
  EXPECT_THAT(create_pass("vectorise").error().message(), testing::Not(HasSubstr("did you mean")));
}

TEST(RegistryDeathTest, TwoPassesOfOneNameAbort) {
  EXPECT_DEATH(register_pass([]() -> std::unique_ptr<Pass> { return std::make_unique<Refuses>(); }),
               "two passes are named \"test-refuses\"");
}

TEST(PipelineTest, RunsInOrderAndRecords) {
  const auto g = graph();
  PipelineOptions options;
  options.keep_ir = true;
  const auto records = run_pipeline(*g, " cse , dce,dce ", {}, options);
  ASSERT_TRUE(records.ok()) << records.error().message();
  ASSERT_EQ(records->size(), 3u);
  EXPECT_EQ((*records)[0].name, "cse");
  EXPECT_FALSE((*records)[0].changed);
  EXPECT_TRUE((*records)[1].changed);
  EXPECT_FALSE((*records)[2].changed);
  EXPECT_EQ((*records)[2].ir_after, ir::print(*g));
  EXPECT_GE((*records)[0].milliseconds, 0.0);
}

TEST(PipelineTest, AnEmptyPipelineRunsNothing) {
  EXPECT_TRUE(run_pipeline(*graph(), "", {}).value().empty());
  EXPECT_TRUE(run_pipeline(*graph(), "  ", {}).value().empty());
  EXPECT_TRUE(run_pipeline(*graph(), "dce", {}).value().front().ir_after.empty());
}

TEST(PipelineTest, AMisspeltNameLeavesTheGraphAsItWas) {
  const auto g = graph();
  const std::string before = ir::print(*g);
  EXPECT_EQ(run_pipeline(*g, "dce,nothing", {}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(ir::print(*g), before);
}

TEST(PipelineTest, EmptyNamesAreRefused) {
  for (const char* pipeline : {",", "dce,", ",dce", "dce,,cse"}) {
    EXPECT_EQ(run_pipeline(*graph(), pipeline, {}).error().code(), ErrorCode::kInvalidArgument) << pipeline;
  }
}

TEST(PipelineTest, ThePassThatBreaksTheGraphIsNamed) {
  const auto broken = run_pipeline(*graph(), "cse,test-breaks-the-graph,dce", {});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(broken.error().message(), testing::StartsWith("after pass test-breaks-the-graph: the use list of "));
}

TEST(PipelineTest, ThePassThatRefusesIsNamed) {
  const auto refused = run_pipeline(*graph(), "test-refuses", {});
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().message(), "pass test-refuses: not today");
}

}  // namespace
}  // namespace tessiq::passes
