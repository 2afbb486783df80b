// Every refusal carries an id that is declared, every declared id has a node that is refused for it, and what is
// claimed is what the kernel builders can answer.
#include "analysis/claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/element_step.h"
#include "analysis/loop_access.h"
#include "analysis/parsed_graph.h"

namespace tessiq::analysis {
namespace {

struct Refusal {
  const char* id;
  const char* parameters;
  const char* statement;
};

const Refusal kRefusals[] = {
    {"on-host", "%a: f32[4]", "%x: f32[4] = relu(%a) {tessiq.device = \"host\"}"},
    {"no-row", "%a: f32[4]", "%x: f32[4] = aten.cumsum.default(%a) {1 = 0}"},
    {"no-kernel", "%a: f32[4]", "%x: f32[4] = aten.rand_like.default(%a)"},
    {"several-results", "%a: f32[4]", "%x: f32[4], %y: f32[4] = relu(%a)"},
    {"unknown-extent", "%a: f32[?]", "%x: f32[?] = relu(%a)"},
    {"unknown-extent", "%a: f32[?, 4], %b: f32[4, 4]", "%x: f32[?, 4] = mm(%a, %b)"},
    {"layout", "%a: f32[4, 4]", "%x: f32[4, 4]{8, 2} = relu(%a)"},
    {"layout", "%a: f32[4, 4]{?, 1}", "%x: f32[4, 4] = relu(%a)"},
    {"layout", "%a: f32[4, 4]", "%x: f32[4, 4]{1, 4} = mm(%a, %a)"},
    {"unknown-keyword", "%a: f32[4]", "%x: f32[4] = relu(%a) {slope = 0.5}"},
    {"unknown-keyword", "%a: f32[4, 4]", "%x: f32[4, 4] = mm(%a, %a) {out_dtype = \"float32\"}"},
    {"unknown-keyword", "%c: f32[4], %a: f32[4, 4]", "%x: f32[4, 4] = addmm(%c, %a, %a) {beta = 2}"},
    {"unknown-keyword", "%c: f32[4], %a: f32[4, 4]", "%x: f32[4, 4] = addmm(%c, %a, %a) {alpha = s0}"},
    {"element-type", "%a: f32[4]", "%x: f32[4] = bitwise_not(%a)"},
    {"element-type", "%a: i64[4]", "%x: i64[4] = exp(%a)"},
    {"element-type", "%a: i64[4, 4]", "%x: i64[4, 4] = mm(%a, %a)"},
    {"element-type", "%a: bf16[4, 4], %b: bf16[4, 4]", "%x: f32[4, 4] = mm(%a, %b)"},
    {"shape", "%a: f32[s0], %b: f32[s1]", "%x: f32[s0] = add(%a, %b)"},
    {"shape", "%a: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]", "%x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1] = relu(%a)"},
    {"shape", "%a: f32[4, 8], %b: f32[4, 8]", "%x: f32[4, 8] = mm(%a, %b)"},
    {"shape", "%a: f32[2, 4, 4], %b: f32[1, 4, 4]", "%x: f32[2, 4, 4] = bmm(%a, %b)"},
    {"unknown-keyword", "%a: f32[2, 3, 5, 5], %w: f32[4, 3, 3, 3], %b: f32[4]",
     "%x: f32[2, 4, 3, 3] = convolution(%a, %w, %b) {3 = [1], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}"},
    {"unknown-keyword", "%a: f32[2, 3, 5, 5], %w: f32[4, 3, 3, 3]",
     "%x: f32[2, 4, 3, 3] = convolution(%a, %w) {3 = [0], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}"},
    {"unknown-keyword", "%a: f32[3, 5], %w: f32[4, 3]",
     "%x: f32[3, 4] = convolution(%a, %w) {3 = [], 4 = [], 5 = [], 6 = false, 7 = [], 8 = 1}"},
    {"element-type", "%a: f32[2, 3, 5, 5], %w: f16[4, 3, 3, 3]",
     "%x: f32[2, 4, 3, 3] = convolution(%a, %w) {3 = [1], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}"},
    {"layout", "%a: f32[2, 3, 5, 5], %w: f32[4, 3, 3, 3]",
     "%x: f32[2, 4, 3, 3]{36, 9, 1, 3} = convolution(%a, %w) {3 = [1], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}"},
    // The strides of a copy with the channels last would be products of symbols.
    {"layout", "%a: f32[2, 3, s0, s1], %w: f32[4, 3, 3, 3]",
     "%x: f32[2, 4, 9, 9]{324, 1, 36, 4} = convolution(%a, %w) {3 = [1], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}"},
};

TEST(Claim, RefusesWithTheIdOfTheReason) {
  for (const Refusal& refusal : kRefusals) {
    const std::string statement = refusal.statement;
    const bool two = statement.find("%y") != std::string::npos;
    const auto graph =
        two ? parsed("graph @main(" + std::string(refusal.parameters) + ") {\n" + statement + "\n  return %x, %y\n}\n")
            : one_node(refusal.parameters, statement);
    const Claim answer = claim(only_node(*graph), {}, graph.get());
    EXPECT_FALSE(answer.supported) << statement;
    EXPECT_EQ(answer.reason_id, refusal.id) << statement << ": " << answer.reason;
    EXPECT_FALSE(answer.reason.empty());
  }
}

TEST(Claim, EveryDeclaredReasonIsReached) {
  std::set<std::string_view> reached{"no-compiler", "no-library"};
  for (const Refusal& refusal : kRefusals) {
    reached.insert(refusal.id);
  }
  std::set<std::string_view> declared;
  for (const ClaimReason& reason : claim_reasons()) {
    EXPECT_TRUE(declared.insert(reason.id).second) << reason.id;
  }
  EXPECT_EQ(reached, declared);
}

TEST(Claim, TargetWithoutCompilerOrLibraryIsTheLastReason) {
  TargetOptions target;
  target.has_generated_loops = false;
  target.has_matmul = false;
  const auto loop = one_node("%a: f32[4]", "%x: f32[4] = relu(%a)");
  EXPECT_EQ(claim(only_node(*loop), target).reason_id, "no-compiler");
  const auto bad_loop = one_node("%a: f32[4]", "%x: f32[4] = relu(%a) {slope = 0.5}");
  EXPECT_EQ(claim(only_node(*bad_loop), target).reason_id, "unknown-keyword");
  target.has_convolution = false;
  const auto product = one_node("%a: f32[4, 4]", "%x: f32[4, 4] = mm(%a, %a)");
  EXPECT_EQ(claim(only_node(*product), target).reason_id, "no-library");
  const auto convolution =
      one_node("%a: f32[2, 3, 5, 5], %w: f32[4, 3, 3, 3]",
               "%x: f32[2, 4, 3, 3] = convolution(%a, %w) {3 = [1], 4 = [0], 5 = [1], 6 = false, 7 = [0], 8 = 1}");
  EXPECT_EQ(claim(only_node(*convolution), target).reason_id, "no-library");
  EXPECT_TRUE(claim(only_node(*convolution), {}).supported);
}

TEST(Claim, TakesEmptyTensorsScalarsAndEightAxes) {
  for (const char* type : {"f32[0, 4]", "f32[]", "bool[1, 2, 1, 2, 1, 2, 1, 2]"}) {
    const auto graph = one_node("%a: " + std::string(type), "%x: " + std::string(type) + " = clone(%a)");
    EXPECT_TRUE(claim(only_node(*graph), {}).supported) << type;
  }
}

TEST(Claim, TakesALayoutWhoseStridesAreDefinedSymbols) {
  const auto graph = parsed(R"(graph @main(%a: f32[2, 4, s0]{s1, 1, 4}) {
    symbol s1 = s0 * 4
    %x: f32[2, 4, s0]{s1, 1, 4} = relu(%a)
    return %x
  })");
  EXPECT_TRUE(claim(only_node(*graph), {}, graph.get()).supported);
  EXPECT_EQ(claim(only_node(*graph), {}).reason_id, "layout");
}

// For every loop of the table the claim answers, the builder's two questions are answered too.
TEST(Claim, ClaimedLoopOfEveryRowHasAStepAndReachesItsOperands) {
  int claimed = 0;
  for (const optable::OpInfo* op : optable::all_ops()) {
    if (!op->is_loop() || !op->kernel) {
      continue;
    }
    for (const char* element : {"bool", "u8", "i64", "bf16", "f32", "f64"}) {
      std::string operands;
      std::string parameters;
      for (int i = 0; i < op->arity; ++i) {
        const std::string name = "%p" + std::to_string(i);
        operands += (i == 0 ? "" : ", ") + name;
        parameters += (i == 0 ? "" : ", ") + name + ": " + element + "[4, 8]";
      }
      const bool compares = op->compute == optable::ComputeType::kOperands;
      const std::string result = std::string(compares ? "bool" : element) + "[4, 8]";
      const auto graph = one_node(parameters, "%x: " + result + " = " + std::string(op->name) + "(" + operands + ")");
      const ir::Node& node = only_node(*graph);
      const Claim answer = claim(node, {});
      EXPECT_TRUE(answer.supported || answer.reason_id == "element-type" || answer.reason_id == "unknown-keyword")
          << op->name << ": " << answer.reason;
      if (answer.supported) {
        ++claimed;
        const auto step = element_step(node, *op);
        ASSERT_TRUE(step.ok()) << op->name;
        for (size_t i = 0; i < step->arguments.size(); ++i) {
          EXPECT_TRUE(step->expression.find("$" + std::to_string(i)) == std::string::npos ||
                      !std::holds_alternative<StepOperand>(step->arguments[i]) ||
                      loop_access(node.operand(std::get<StepOperand>(step->arguments[i]).index)->type(),
                                  node.result()->type().shape)
                          .ok());
        }
      }
    }
  }
  EXPECT_GT(claimed, 300);
}

}  // namespace
}  // namespace tessiq::analysis
