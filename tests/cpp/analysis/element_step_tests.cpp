// Arguments stand where the call put them, cases are chosen by constants, and types promote as PyTorch's do.
#include "analysis/element_step.h"

#include <gtest/gtest.h>

#include "analysis/parsed_graph.h"

namespace tessiq::analysis {
namespace {

struct Resolved {
  std::unique_ptr<ir::Graph> graph;
  Result<ElementStep> step;
};

Resolved resolve(const std::string& statement, const std::string& parameters = "%a: f32[4], %b: f32[4]") {
  auto graph = one_node(parameters, statement);
  const ir::Node& node = only_node(*graph);
  return {std::move(graph), element_step(node, *optable::find_op(node.op()))};
}

TEST(ElementStep, ConstantStandsAtItsOwnPosition) {
  const auto first = resolve("%x: f32[4] = aten.sub.Tensor(%a) {0 = 1}");
  ASSERT_TRUE(first.step.ok()) << first.step.error().message();
  EXPECT_EQ(first.step->expression, "($0 - $1)");
  EXPECT_EQ(std::get<int64_t>(first.step->arguments[0]), 1);
  EXPECT_EQ(std::get<StepOperand>(first.step->arguments[1]).index, 0);
  const auto second = resolve("%x: f32[4] = aten.sub.Tensor(%a) {1 = 1}");
  EXPECT_EQ(std::get<StepOperand>(second.step->arguments[0]).index, 0);
  EXPECT_EQ(std::get<int64_t>(second.step->arguments[1]), 1);
}

TEST(ElementStep, NamedParameterIsAnArgumentAfterThePositionalOnes) {
  const auto named = resolve("%x: f32[4] = add(%a, %b) {alpha = 2.5}");
  EXPECT_EQ(named.step->expression, "($0 + $2 * $1)");
  EXPECT_EQ(std::get<double>(named.step->arguments[2]), 2.5);
  // aten.add.Scalar(self, other, alpha) passes it by position.
  const auto placed = resolve("%x: f32[4] = aten.add.Scalar(%a) {1 = 3, 2 = 2}");
  EXPECT_EQ(placed.step->expression, "($0 + $2 * $1)");
  EXPECT_EQ(std::get<int64_t>(placed.step->arguments[2]), 2);
}

TEST(ElementStep, ParameterThatIsAbsentHasItsDefault) {
  const auto slope = resolve("%x: f32[4] = leaky_relu(%a)");
  EXPECT_EQ(std::get<double>(slope.step->arguments[1]), 0.01);
  const auto given = resolve("%x: f32[4] = leaky_relu(%a) {1 = 0.5}");
  EXPECT_EQ(std::get<double>(given.step->arguments[1]), 0.5);
  const auto tanh = resolve("%x: f32[4] = hardtanh(%a) {2 = 6.0}");
  EXPECT_EQ(std::get<int64_t>(tanh.step->arguments[1]), -1);
  EXPECT_EQ(std::get<double>(tanh.step->arguments[2]), 6.0);
}

TEST(ElementStep, BoundOfClampThatIsNoneIsNotRead) {
  EXPECT_EQ(resolve("%x: f32[4] = clamp(%a) {1 = 0}").step->expression, "maximum($1, $0)");
  EXPECT_EQ(resolve("%x: f32[4] = clamp(%a) {1 = none, 2 = 6}").step->expression, "minimum($2, $0)");
  EXPECT_EQ(resolve("%x: f32[4] = clamp(%a) {1 = 0, 2 = 6}").step->expression, "minimum($2, maximum($1, $0))");
  EXPECT_EQ(resolve("%x: f32[4] = clamp(%a, %b)").step->expression, "maximum($1, $0)");
  EXPECT_EQ(resolve("%x: f32[4] = clamp(%a, %b) {1 = none}").step->expression, "minimum($2, $0)");
  EXPECT_FALSE(resolve("%x: f32[4] = clamp(%a)").step.ok());
}

TEST(ElementStep, KeywordChoosesTheFormula) {
  const auto exact = resolve("%x: f32[4] = gelu(%a)");
  const auto tanh = resolve("%x: f32[4] = gelu(%a) {approximate = \"tanh\"}");
  EXPECT_NE(exact.step->expression.find("erf"), std::string::npos);
  EXPECT_NE(tanh.step->expression.find("tanh"), std::string::npos);
  EXPECT_EQ(resolve("%x: f32[4] = gelu(%a) {approximate = \"none\"}").step->expression, exact.step->expression);
  EXPECT_FALSE(resolve("%x: f32[4] = gelu(%a) {approximate = \"sigmoid\"}").step.ok());
}

TEST(ElementStep, ExponentOfOneHalfIsARootAndOthersAreNot) {
  EXPECT_EQ(resolve("%x: f32[4] = pow(%a) {1 = 0.5}").step->expression, "sqrt($0)");
  EXPECT_EQ(resolve("%x: f32[4] = pow(%a) {1 = 2}").step->expression, "($0 * $0)");
  EXPECT_EQ(resolve("%x: f32[4] = pow(%a) {1 = 2.0}").step->expression, "($0 * $0)");
  EXPECT_EQ(resolve("%x: f32[4] = pow(%a) {1 = 1.5}").step->expression, "power($0, $1)");
  EXPECT_EQ(resolve("%x: f32[4] = pow(%a) {0 = 2}").step->expression, "power($0, $1)");
}

TEST(ElementStep, SizeIsANumberOfTheCall) {
  const auto scaled = resolve("%x: f32[s0] = mul(%a) {1 = s0}", "%a: f32[s0]");
  EXPECT_EQ(std::get<ir::SizeExpr>(scaled.step->arguments[1]).to_string(), "s0");
}

TEST(ElementStep, OperandThatIsNotReadIsNoRead) {
  const auto copied = resolve("%x: f32[4] = aten.copy.default(%a, %b)");
  EXPECT_EQ(std::get<int64_t>(copied.step->arguments[0]), 0);
  EXPECT_EQ(std::get<StepOperand>(copied.step->arguments[1]).index, 1);
}

TEST(ElementStep, RefusesWhatTheRowDoesNotName) {
  for (const char* statement : {
           "%x: f32[4] = mul(%a, %b) {alpha = 2}",                     // a keyword
           "%x: f32[4] = relu(%a) {1 = 2}",                            // a position
           "%x: f32[4] = relu(%a, %b)",                                // a tensor
           "%x: f32[4] = mul(%a)",                                     // too few
           "%x: f32[4] = mul(%a) {1 = \"two\"}",                       // text for a number
           "%x: f32[4] = mul(%a) {1 = [2]}",                           // a list
           "%x: f32[4] = mul(%a) {1 = none}",                          // nothing
           "%x: f32[4] = clamp(%a, %b) {operand.min = none}",          // a tensor by name
           "%x: f32[4] = full() {0 = [4], 1 = 1, pin_memory = true}",  // memory of another kind
       }) {
    const auto resolved = resolve(statement);
    ASSERT_FALSE(resolved.step.ok()) << statement;
    EXPECT_EQ(resolved.step.error().code(), ErrorCode::kUnsupported) << resolved.step.error().message();
  }
}

TEST(ElementStep, HalfTypesComputeInFloatAndACastRounds) {
  const auto half = resolve("%x: bf16[4] = relu(%a)", "%a: bf16[4]");
  EXPECT_EQ(half.step->operates_on, ir::ElementType::kBFloat16);
  EXPECT_EQ(half.step->compute, ir::ElementType::kFloat32);
  EXPECT_FALSE(half.step->rounds);
  EXPECT_TRUE(resolve("%x: bf16[4] = cast(%a) {dtype = \"bfloat16\"}").step->rounds);
}

// torch.result_type of the same arguments.
TEST(PromotedType, FollowsPyTorchsOrderOfTensorsScalarsAndNumbers) {
  struct Case {
    const char* parameters;
    const char* statement;
    ir::ElementType expected;
  };
  using ir::ElementType;
  const Case cases[] = {
      {"%a: i64[4], %b: f32[]", "%x: bool[4] = lt(%a, %b)", ElementType::kFloat32},
      {"%a: f16[4], %b: f64[]", "%x: bool[4] = lt(%a, %b)", ElementType::kFloat16},
      {"%a: f16[4], %b: bf16[4]", "%x: bool[4] = lt(%a, %b)", ElementType::kFloat32},
      {"%a: u8[4], %b: i8[4]", "%x: bool[4] = lt(%a, %b)", ElementType::kInt16},
      {"%a: u8[4], %b: i64[]", "%x: bool[4] = lt(%a, %b)", ElementType::kUInt8},
      {"%a: bool[4], %b: u8[]", "%x: bool[4] = lt(%a, %b)", ElementType::kUInt8},
      {"%a: i32[4]", "%x: bool[4] = lt(%a) {1 = 0.5}", ElementType::kFloat32},
      {"%a: i32[4]", "%x: bool[4] = lt(%a) {1 = 5}", ElementType::kInt32},
      {"%a: bf16[4]", "%x: bool[4] = lt(%a) {1 = 0.5}", ElementType::kBFloat16},
      {"%a: bool[4]", "%x: bool[4] = lt(%a) {1 = 2}", ElementType::kInt64},
      {"%a: bool[4]", "%x: bool[4] = lt(%a) {1 = true}", ElementType::kBool},
      {"%a: f64[4], %b: f32[4]", "%x: bool[4] = lt(%a, %b)", ElementType::kFloat64},
  };
  for (const Case& one : cases) {
    const auto graph = one_node(one.parameters, one.statement);
    EXPECT_EQ(promoted_type(only_node(*graph)), one.expected) << one.parameters << ": " << one.statement;
  }
}

}  // namespace
}  // namespace tessiq::analysis
