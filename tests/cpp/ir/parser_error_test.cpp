// Malformed text at every production of the grammar: the place, what was expected, what was found.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "ir/text/text.h"

namespace tessiq::ir {
namespace {

struct Malformed {
  const char* name;
  const char* text;
  const char* error;
};

// Puts a body between the lines of a graph whose parameters are %x and %y; the body starts on line 2.
std::string with_body(const std::string& body) {
  return "graph @main(%x: f32[4], %y: f32[s0]) {\n" + body + "\nreturn %x\n}\n";
}

std::string error_of(const std::string& text) {
  const auto graph = parse(text);
  if (graph.ok()) {
    return "accepted";
  }
  EXPECT_EQ(graph.error().code(), ErrorCode::kInvalidArgument);
  return graph.error().message();
}

void PrintTo(const Malformed& malformed, std::ostream* stream) { *stream << malformed.text; }

class MalformedGraph : public testing::TestWithParam<Malformed> {};
TEST_P(MalformedGraph, IsRefused) { EXPECT_EQ(error_of(GetParam().text), GetParam().error); }

class MalformedBody : public testing::TestWithParam<Malformed> {};
TEST_P(MalformedBody, IsRefused) { EXPECT_EQ(error_of(with_body(GetParam().text)), GetParam().error); }

std::string name_of(const testing::TestParamInfo<Malformed>& info) { return info.param.name; }

const Malformed kGraphs[] = {
    {"Empty", "", "1:1: expected 'graph', found the end of the text"},
    {"OnlyAComment", "# nothing", "1:10: expected 'graph', found the end of the text"},
    {"AnotherWord", "func @main() {return}", "1:1: expected 'graph', found 'func'"},
    {"NoName", "graph (", "1:7: expected a graph's name such as @main, found '('"},
    {"LoneAt", "graph @(", "1:7: expected a name, a number or punctuation, found '@'"},
    {"NoParameters", "graph @main {", "1:13: expected '(', found '{'"},
    {"ParameterWithoutPercent", "graph @main(x: f32[4]) {return}",
     "1:13: expected a value's name such as %x, found 'x'"},
    {"ParameterWithoutType", "graph @main(%x) {return}", "1:15: expected ':', found ')'"},
    {"TrailingComma", "graph @main(%x: f32[4],) {return}", "1:24: expected a value's name such as %x, found ')'"},
    {"ParametersNotClosed", "graph @main(%x: f32[4]; {return}",
     "1:23: expected a name, a number or punctuation, found ';'"},
    {"UnknownElement", "graph @main(%x: f8[4]) {return}", "1:17: expected an element type such as f32, found 'f8'"},
    {"NoShape", "graph @main(%x: f32) {return}", "1:20: expected '[', found ')'"},
    {"BadExtent", "graph @main(%x: f32[1.5]) {return}", "1:21: expected an integer, a symbol or '?', found '1.5'"},
    {"NegativeExtent", "graph @main(%x: f32[-1]) {return}", "1:17: size -1 is negative"},
    {"NegativeStride", "graph @main(%x: f32[4]{-1}) {return}", "1:17: size -1 is negative"},
    {"ExtentTooLarge", "graph @main(%x: f32[99999999999999999999]) {return}",
     "1:21: expected an integer of 64 bits, found '99999999999999999999'"},
    {"ReservedSymbol", "graph @main(%x: f32[inf]) {return}", "1:21: expected an integer, a symbol or '?', found 'inf'"},
    {"ShapeNotClosed", "graph @main(%x: f32[4, 5) {return}", "1:25: expected ']', found ')'"},
    {"TooManyStrides", "graph @main(%x: f32[4]{1, 2}) {return}", "1:17: type f32[4]{1, 2} has 2 strides for 1 axes"},
    {"SameParameterTwice", "graph @main(%x: f32[], %x: f32[]) {return}", "1:24: %x is already defined in this graph"},
    {"NoBody", "graph @main()", "1:14: expected '{', found the end of the text"},
    {"NoReturn", "graph @main() {}", "1:16: expected a node, a symbol or 'return', found '}'"},
    {"ReturnOfAnUnknown", "graph @main() {return %x}", "1:23: %x is not defined before it is read"},
    {"ReturnOfANumber", "graph @main() {return 3}", "1:23: expected a value's name such as %x, found '3'"},
    {"BodyNotClosed", "graph @main() {return", "1:22: expected a value's name such as %x, found the end of the text"},
    {"SomethingAfter", "graph @main() {return} graph", "1:24: expected nothing after the graph, found 'graph'"},
    {"AByteThatIsNone", "graph @main() {return}\n\x01",
     "2:1: expected a name, a number or punctuation, found byte 0x01"},
};

const Malformed kBodies[] = {
    {"LoneWord", "foo", "2:1: expected a node, a symbol or 'return', found 'foo'"},
    {"LoneNumber", "?", "2:1: expected a node, a symbol or 'return', found '?'"},
    {"ResultWithoutType", "%a = op(%x)", "2:4: expected ':', found '='"},
    {"ResultWithoutOperation", "%a: f32[4] = (%x)", "2:14: expected an operation's name, found '('"},
    {"ResultWithoutEquals", "%a: f32[4] op(%x)", "2:12: expected '=', found 'op'"},
    {"OperationThatIsNoName", "%a: f32[4] = -op(%x)", "2:14: expected an operation's name, found '-op'"},
    {"EffectThatIsNoName", "-op(%x)", "2:1: \"-op\" cannot name an operation: letters, digits, _ and . only"},
    {"OperandWithoutPercent", "%a: f32[4] = op(x)", "2:17: expected a value's name such as %x, found 'x'"},
    {"OperandNotDefined", "%a: f32[4] = op(%b)", "2:17: %b is not defined before it is read"},
    {"OperandOfItself", "%a: f32[4] = op(%a)", "2:17: %a is not defined before it is read"},
    {"OperandsNotClosed", "%a: f32[4] = op(%x", "3:1: expected ')', found 'return'"},
    {"NameTaken", "%x: f32[4] = op(%x)", "2:1: %x is already defined in this graph"},
    {"OneNameForTwoResults", "%a: f32[4], %a: f32[4] = op(%x)", "2:1: %a names two results of one op"},
    {"NoAttributeInBraces", "%a: f32[4] = op(%x) {}", "2:22: expected an attribute's key, found '}'"},
    {"AttributeWithoutValue", "%a: f32[4] = op(%x) {k}", "2:23: expected '=', found '}'"},
    {"AttributeWithAnEmptyValue", "%a: f32[4] = op(%x) {k = }", "2:26: expected an attribute's value, found '}'"},
    {"AttributeOfAValue", "%a: f32[4] = op(%x) {k = %x}", "2:26: expected an attribute's value, found %x"},
    {"AttributeTwice", "%a: f32[4] = op(%x) {k = 1, k = 2}", "2:29: attribute k is given twice"},
    {"AttributeKeyWithSign", "%a: f32[4] = op(%x) {-1 = 1}", "2:22: expected an attribute's key, found '-1'"},
    {"AttributesNotClosed", "%a: f32[4] = op(%x) {k = 1", "3:1: expected '}', found 'return'"},
    {"IntegerTooLarge", "%a: f32[4] = op(%x) {k = 9223372036854775808}",
     "2:26: expected an integer of 64 bits, found '9223372036854775808'"},
    {"FloatTooLarge", "%a: f32[4] = op(%x) {k = 1e999}",
     "2:26: expected a number that fits in a double, found '1e999'"},
    {"FloatWithJunk", "%a: f32[4] = op(%x) {k = 1.5x}", "2:26: expected a number that fits in a double, found '1.5x'"},
    {"WordThatIsNoSymbol", "%a: f32[4] = op(%x) {k = a.b}", "2:26: expected an attribute's value, found 'a.b'"},
    {"StringNotClosed", "%a: f32[4] = op(%x) {k = \"abc}",
     "2:26: expected a closing quote on the line of the string that starts here"},
    {"StringWithABadEscape", "%a: f32[4] = op(%x) {k = \"\\q\"}",
     "2:26: expected an escape, one of \\\" \\\\ \\n \\xhh, in the string that starts here"},
    {"StringWithHalfAnEscape", "%a: f32[4] = op(%x) {k = \"\\x1\"}",
     "2:26: expected an escape, one of \\\" \\\\ \\n \\xhh, in the string that starts here"},
    {"ListOfBoth", "%a: f32[4] = op(%x) {k = [1.0, 2]}",
     "2:32: expected a float: a list holds floats or sizes, not both, found '2'"},
    {"ListOfBothTheOtherWay", "%a: f32[4] = op(%x) {k = [2, 1.0]}",
     "2:30: expected an integer, a symbol or '?', found '1.0'"},
    {"ListNotClosed", "%a: f32[4] = op(%x) {k = [1, 2}", "2:31: expected ']', found '}'"},
    {"ListOfLists", "%a: f32[4] = op(%x) {k = [[1]]}", "2:27: expected an integer, a symbol or '?', found '['"},
    {"SymbolWithoutName", "symbol = 3", "2:8: expected a symbol's name such as s0, found '='"},
    {"SymbolOfAReservedName", "symbol min = 3", "2:8: expected a symbol's name such as s0, found 'min'"},
    {"SymbolTwice", "symbol s1 = 1 symbol s1 = 2", "2:22: symbol s1 is already defined in this graph"},
    {"SymbolOfItself", "symbol s1 = s1 + 1", "2:8: symbol s1 is read by a definition before it is defined"},
    {"SymbolAfterANode", "%a: f32[4] = op(%x) symbol s1",
     "2:21: expected symbols before the first node, found 'symbol'"},
    {"SymbolWithoutExpression", "symbol s1 = +", "2:13: expected an integer, a symbol, min, max or '(', found '+'"},
    {"SumWithoutTerm", "symbol s1 = s0 + )", "2:18: expected an integer, a symbol, min, max or '(', found ')'"},
    {"ProductWithoutFactor", "symbol s1 = s0 * *", "2:18: expected an integer, a symbol, min, max or '(', found '*'"},
    {"ParenthesisNotClosed", "symbol s1 = (s0 + 1", "3:1: expected ')', found 'return'"},
    {"MinimumOfOne", "symbol s1 = min(s0)", "2:19: expected ',', found ')'"},
    {"MinimumNotOpened", "symbol s1 = min s0", "2:17: expected '(', found 's0'"},
    {"MaximumNotClosed", "symbol s1 = max(s0, 1", "3:1: expected ')', found 'return'"},
    {"SizeOfAFloat", "symbol s1 = 1.5", "2:13: expected an integer, a symbol, min, max or '(', found '1.5'"},
    {"LoneSlash", "symbol s1 = s0 / 2", "2:16: expected a name, a number or punctuation, found '/'"},
};

INSTANTIATE_TEST_SUITE_P(At, MalformedGraph, testing::ValuesIn(kGraphs), name_of);
INSTANTIATE_TEST_SUITE_P(At, MalformedBody, testing::ValuesIn(kBodies), name_of);

TEST(ParserTest, NestingIsBounded) {
  const std::string open(100000, '(');
  EXPECT_EQ(error_of(with_body("symbol s1 = " + open)), "2:141: size expression is nested deeper than 128");
  std::string chain = "symbol s1 = s0";
  for (int i = 0; i < 100000; ++i) {
    chain += " // 2";
  }
  EXPECT_EQ(error_of(with_body(chain)).substr(0, 2), "2:");
}

TEST(ParserTest, LongTextsAreCutInMessages) {
  const std::string message = error_of(with_body(std::string(100000, 'a')));
  EXPECT_LT(message.size(), 200u);
}

TEST(ParserTest, LargeGraphsParse) {
  std::string body;
  for (int i = 0; i < 20000; ++i) {
    const std::string n = std::to_string(i);
    body += "%v" + n + ": f32[4] = op(%x, " + (i == 0 ? "%x" : "%v" + std::to_string(i - 1)) + ") {k = " + n + "}\n";
  }
  const auto graph = parse(with_body(body));
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ((*graph)->node_count(), 20000u);
}

TEST(ParserTest, NoOperationNameIsReserved) {
  const auto graph = parse(with_body("graph(%x) symbol(%x) return(%x) %a: f32[4] = return(%x)"));
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ((*graph)->node_count(), 4u);
}

}  // namespace
}  // namespace tessiq::ir
