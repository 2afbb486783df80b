// Each invariant broken by hand, the way a careless pass would, and the message that says so.
#include "ir/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace tessiq::ir {
namespace {

using testing::HasSubstr;

class VerifierTest : public testing::Test {
 protected:
  void SetUp() override {
    graph = parse(R"(graph @main(%x: f32[4], %y: f32[4]) {
      %a: f32[4] = add(%x, %y)
      %b: f32[4] = mul(%a, %a)
      return %b
    })")
                .value();
    ASSERT_TRUE(verify(*graph).ok());
  }

  Node* node(const char* name) { return graph->find_value(name)->producer(); }

  // What a pass must not do: write to the graph behind its back.
  static std::vector<Value*>& operands_of(Node* node) { return const_cast<std::vector<Value*>&>(node->operands()); }

  void expect(const std::string& text) {
    const auto verified = verify(*graph);
    ASSERT_FALSE(verified.ok());
    EXPECT_EQ(verified.error().code(), ErrorCode::kInternal);
    EXPECT_THAT(verified.error().message(), HasSubstr(text));
  }

  std::unique_ptr<Graph> graph;
};

TEST_F(VerifierTest, AnOperandDefinedAfterItsReader) {
  graph->move_before(node("b"), node("a"));
  expect("operand 0 of %b (mul) is not defined before it; a node may have been inserted or moved");
}

TEST_F(VerifierTest, AnOperandAssignedWithoutItsUse) {
  operands_of(node("b"))[1] = graph->find_value("x");
  expect("without set_operand");
}

TEST_F(VerifierTest, AUseOfASlotThatReadsSomethingElse) {
  operands_of(node("b"))[1] = graph->find_value("y");
  operands_of(node("a"))[1] = graph->find_value("x");
  expect("without set_operand");
}

TEST_F(VerifierTest, AnOperandDroppedWithoutItsUse) {
  operands_of(node("b")).pop_back();
  expect("the use list of %a names a slot that does not read it");
}

TEST_F(VerifierTest, AnOperandAddedWithoutItsUse) {
  operands_of(node("b")).push_back(graph->find_value("x"));
  expect("operand slots read it");
}

TEST_F(VerifierTest, AnOperandOfAnotherGraph) {
  Graph other;
  operands_of(node("b"))[1] = other.add_parameter("x", graph->find_value("x")->type()).value();
  expect("operand 1 of %b (mul) is not defined before it");
}

TEST_F(VerifierTest, AResultOfAnotherGraph) {
  Graph other;
  Value* foreign = other.add_parameter("x", graph->find_value("x")->type()).value();
  graph->set_results({foreign});
  expect("graph result 0 is not defined in this graph");
  graph->set_results({});
}

TEST_F(VerifierTest, AnOperationThatCannotBePrinted) {
  node("a")->set_op("add(");
  expect("operation \"add(\" of %a is not a name");
}

TEST_F(VerifierTest, AnAttributeThatCannotBePrinted) {
  node("a")->set_attribute("two words", None{});
  expect("attribute key \"two words\" of %a");
}

TEST_F(VerifierTest, AnAttributeWithASymbolThatIsNoName) {
  node("a")->set_attribute("sizes", SizeList{Extent::symbol("none")});
  expect("names \"none\", which cannot be a size symbol");
}

TEST_F(VerifierTest, ATypeWithTooFewStrides) {
  graph->set_type(graph->find_value("a"), {ElementType::kFloat32, {4, 4}, SizeList{1}});
  expect("%a: type f32[4, 4]{1} has 1 strides for 2 axes");
}

TEST_F(VerifierTest, ATypeWithANegativeExtent) {
  graph->set_type(graph->find_value("a"), {ElementType::kFloat32, {-4}, {}});
  expect("%a: size -4 is negative");
}

TEST_F(VerifierTest, PackedStridesInATypeBehindTheGraphsBack) {
  auto& type = const_cast<TensorType&>(graph->find_value("a")->type());
  type.strides = SizeList{1};
  expect("whose strides are those of a packed tensor");
}

}  // namespace
}  // namespace tessiq::ir
