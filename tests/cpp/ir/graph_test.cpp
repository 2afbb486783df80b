// Use lists, names and refusals of the graph.
#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ir/verifier.h"

namespace tessiq::ir {
namespace {

TensorType vector_of(Extent extent) { return {ElementType::kFloat32, {std::move(extent)}, {}}; }

class GraphTest : public testing::Test {
 protected:
  Value* parameter(const std::string& name) { return graph.add_parameter(name, vector_of(4)).value(); }
  Node* node(const std::string& name, std::vector<Value*> operands, Node* before = nullptr) {
    return graph.add_node("op", std::move(operands), {}, {{name, vector_of(4)}}, before).value();
  }

  Graph graph;
};

TEST_F(GraphTest, UsesAreInTheOrderTheyWereMade) {
  Value* x = parameter("x");
  Node* a = node("a", {x, x});
  Node* b = node("b", {x});
  EXPECT_EQ(x->uses(), (std::vector<Use>{{a, 0}, {a, 1}, {b, 0}}));
}

TEST_F(GraphTest, SettingAnOperandMovesItsUse) {
  Value* x = parameter("x");
  Value* y = parameter("y");
  Node* a = node("a", {x, x});
  a->set_operand(1, y);
  EXPECT_EQ(x->uses(), (std::vector<Use>{{a, 0}}));
  EXPECT_EQ(y->uses(), (std::vector<Use>{{a, 1}}));
  EXPECT_TRUE(verify(graph).ok());
}

TEST_F(GraphTest, ErasingRefusesAndNamesTheReaders) {
  Node* a = node("a", {parameter("x")});
  node("b", {a->result()});
  node("c", {a->result()});
  const auto erased = graph.erase_node(a);
  ASSERT_FALSE(erased.ok());
  EXPECT_EQ(erased.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(erased.error().message(), "%a cannot be erased: it is read by %b, %c");
}

TEST_F(GraphTest, ErasingRefusesWhatIsReturned) {
  Node* a = node("a", {parameter("x")});
  graph.set_results({a->result()});
  EXPECT_EQ(graph.erase_node(a).error().message(), "%a cannot be erased: the graph returns it");
}

TEST_F(GraphTest, ErasingFreesNameAndUses) {
  Value* x = parameter("x");
  ASSERT_TRUE(graph.erase_node(node("a", {x, x})).ok());
  EXPECT_TRUE(x->uses().empty());
  EXPECT_EQ(graph.find_value("a"), nullptr);
  node("a", {x});
  EXPECT_TRUE(verify(graph).ok());
}

TEST_F(GraphTest, ReplacingMovesUsesAndResults) {
  Value* x = parameter("x");
  Node* a = node("a", {x});
  Node* b = node("b", {x}, a);
  Node* c = node("c", {a->result(), a->result()});
  graph.set_results({a->result(), a->result()});
  EXPECT_TRUE(graph.replace_all_uses(a->result(), b->result()));
  EXPECT_EQ(b->result()->uses(), (std::vector<Use>{{c, 0}, {c, 1}}));
  EXPECT_EQ(graph.results(), (std::vector<Value*>{b->result(), b->result()}));
  EXPECT_TRUE(graph.is_result(b->result()));
  EXPECT_FALSE(graph.is_result(a->result()));
  EXPECT_FALSE(graph.replace_all_uses(a->result(), b->result()));
  EXPECT_TRUE(verify(graph).ok());
}

TEST_F(GraphTest, ReplacingReadsLeavesResults) {
  Value* x = parameter("x");
  Node* a = node("a", {x});
  Node* c = node("c", {a->result()});
  graph.set_results({a->result()});
  EXPECT_TRUE(graph.replace_reads(a->result(), x));
  EXPECT_EQ(c->operand(0), x);
  EXPECT_EQ(graph.results(), (std::vector<Value*>{a->result()}));
  EXPECT_FALSE(graph.replace_reads(a->result(), x));
}

TEST_F(GraphTest, InsertingPlacesBefore) {
  Value* x = parameter("x");
  Node* b = node("b", {x});
  Node* a = node("a", {x}, b);
  EXPECT_EQ(graph.nodes().front().get(), a);
  graph.move_before(b, a);
  EXPECT_EQ(graph.nodes().front().get(), b);
}

TEST_F(GraphTest, RefusesNamesThatAreTakenOrCannotBePrinted) {
  parameter("x");
  EXPECT_EQ(graph.add_parameter("x", vector_of(4)).error().message(), "%x is already defined in this graph");
  EXPECT_FALSE(graph.add_parameter("", vector_of(4)).ok());
  EXPECT_FALSE(graph.add_parameter("a b", vector_of(4)).ok());
  EXPECT_FALSE(graph.add_node("op()", {}, {}, {}).ok());
  EXPECT_FALSE(graph.add_node("op", {}, {{"a key", None{}}}, {}).ok());
  EXPECT_FALSE(graph.add_node("op", {}, {}, {{"r", vector_of(4)}, {"r", vector_of(4)}}).ok());
  EXPECT_EQ(graph.node_count(), 0u);
}

TEST_F(GraphTest, RefusesAValueOfAnotherGraph) {
  Graph other;
  Value* foreign = other.add_parameter("x", vector_of(4)).value();
  parameter("x");
  EXPECT_EQ(graph.add_node("op", {foreign}, {}, {}).error().message(), "operand 0 of op is not a value of this graph");
  EXPECT_FALSE(graph.add_node("op", {nullptr}, {}, {}).ok());
}

TEST_F(GraphTest, RefusesMalformedTypes) {
  EXPECT_FALSE(graph.add_parameter("a", vector_of(-1)).ok());
  EXPECT_FALSE(graph.add_parameter("b", vector_of(Extent::symbol("true"))).ok());
  EXPECT_FALSE(graph.add_parameter("c", {ElementType::kFloat32, {4}, SizeList{1, 1}}).ok());
}

TEST_F(GraphTest, UniqueNamesTakeTheSmallestSuffix) {
  EXPECT_EQ(graph.unique_name("x"), "x");
  parameter("x");
  parameter("x_1");
  EXPECT_EQ(graph.unique_name("x"), "x_2");
}

TEST_F(GraphTest, AttributesReportWhetherTheyChanged) {
  Node* a = node("a", {parameter("x")});
  EXPECT_TRUE(a->set_attribute("alpha", 1.0));
  EXPECT_FALSE(a->set_attribute("alpha", 1.0));
  EXPECT_TRUE(a->set_attribute("alpha", int64_t{1}));
  EXPECT_FALSE(a->set_attribute("alpha", Extent(1)));
  EXPECT_TRUE(a->remove_attribute("alpha"));
  EXPECT_FALSE(a->remove_attribute("alpha"));
  EXPECT_EQ(a->attribute("alpha"), nullptr);
}

TEST_F(GraphTest, SymbolsAreDefinedOnceAndInOrder) {
  using Kind = SizeExpr::Kind;
  const auto twice = SizeExpr::of(Kind::kMul, {SizeExpr::of_symbol("s0"), SizeExpr::of_constant(2)});
  ASSERT_TRUE(graph.define_symbol({"s1", twice}).ok());
  EXPECT_FALSE(graph.define_symbol({"s1", twice}).ok());
  EXPECT_FALSE(graph.define_symbol({"s0", SizeExpr::of_symbol("s1")}).ok());
  EXPECT_FALSE(graph.define_symbol({"s2", SizeExpr::of_symbol("s2")}).ok());
  EXPECT_FALSE(graph.define_symbol({"s3", SizeExpr::of(Kind::kFloorDiv, {SizeExpr::of_constant(1)})}).ok());
  // s0 is free, and may be declared so.
  EXPECT_TRUE(graph.define_symbol({"s0", std::nullopt}).ok());
  EXPECT_TRUE(graph.find_symbol("s1")->expression.has_value());
  EXPECT_EQ(graph.find_symbol("s9"), nullptr);
  EXPECT_TRUE(verify(graph).ok());
}

}  // namespace
}  // namespace tessiq::ir
