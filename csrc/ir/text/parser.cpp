// Text to graph, one production a function:
//
//   graph     = "graph" "@"name "(" [ typed { "," typed } ] ")" "{" { symbol } { node } "return" [ values ] "}"
//   symbol    = "symbol" name [ "=" size-expression ]
//   node      = [ typed { "," typed } "=" ] name "(" [ values ] ")" [ "{" name "=" attribute { "," ... } "}" ]
//   typed     = "%"name ":" element "[" [ extents ] "]" [ "{" [ extents ] "}" ]
//   attribute = none | true | false | integer | float | string | symbol | "?" | "[" [ extents | floats ] "]"
#include <charconv>
#include <utility>

#include "ir/name.h"
#include "ir/text/size_expr_parser.h"
#include "ir/text/text.h"
#include "ir/text/token_stream.h"
#include "ir/verifier.h"

namespace tessiq::ir {
namespace {

bool is_float(std::string_view word) {
  const std::string_view digits = word.starts_with('-') ? word.substr(1) : word;
  if (digits == "inf" || word == "nan") {
    return true;
  }
  return !digits.empty() && is_digit(digits.front()) && !is_integer(word);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) {}

  Result<std::unique_ptr<Graph>> graph();

 private:
  struct Typed {
    Token name;
    TensorType type;
  };

  Result<void> parameters();
  Result<void> symbol();
  Result<void> node();
  Result<void> named_node(const Token& op, std::vector<Typed> results);
  Result<void> results();
  Result<Typed> typed();
  Result<TensorType> type();
  Result<std::vector<Value*>> values();
  Result<AttributeMap> attributes();
  Result<Attribute> attribute();
  Result<Attribute> word_attribute();
  Result<Attribute> list_attribute();
  Result<double> number();
  Result<std::vector<Extent>> sizes(std::string_view close);
  Result<void> keyword(std::string_view word);
  bool at_float() const { return tokens_.peek().kind == TokenKind::kWord && is_float(tokens_.peek().text); }

  TokenStream tokens_;
  std::unique_ptr<Graph> graph_;
};

Result<void> Parser::keyword(std::string_view word) {
  if (!tokens_.at_word(word)) {
    return tokens_.expected("'" + std::string(word) + "'");
  }
  tokens_.take();
  return {};
}

Result<std::unique_ptr<Graph>> Parser::graph() {
  TESSIQ_RETURN_IF_ERROR(keyword("graph"));
  if (tokens_.peek().kind != TokenKind::kGraphName) {
    return tokens_.expected("a graph's name such as @main");
  }
  graph_ = std::make_unique<Graph>(tokens_.take().text);
  TESSIQ_RETURN_IF_ERROR(parameters());
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("{"));
  TESSIQ_RETURN_IF_ERROR(results());
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("}"));
  if (tokens_.peek().kind != TokenKind::kEnd) {
    return tokens_.expected("nothing after the graph");
  }
  TESSIQ_RETURN_IF_ERROR(verify(*graph_));
  return std::move(graph_);
}

Result<void> Parser::parameters() {
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("("));
  if (tokens_.take_if(")")) {
    return {};
  }
  do {
    TESSIQ_ASSIGN_OR_RETURN(Typed parameter, typed());
    if (auto added = graph_->add_parameter(parameter.name.text, std::move(parameter.type)); !added) {
      return error_at(parameter.name, added.error().message());
    }
  } while (tokens_.take_if(","));
  return tokens_.expect(")");
}

// The body up to and with the returned values. A word may open a symbol, a node without results or the return; only
// what follows it tells, so that no operation's name is reserved.
Result<void> Parser::results() {
  bool seen_node = false;
  for (;;) {
    if (tokens_.peek().kind == TokenKind::kValueName) {
      TESSIQ_RETURN_IF_ERROR(node());
      seen_node = true;
      continue;
    }
    if (tokens_.peek().kind != TokenKind::kWord) {
      return tokens_.expected("a node, a symbol or 'return'");
    }
    const Token word = tokens_.take();
    if (tokens_.peek().is("(")) {
      TESSIQ_RETURN_IF_ERROR(named_node(word, {}));
      seen_node = true;
    } else if (word.text == "symbol" && !seen_node) {
      TESSIQ_RETURN_IF_ERROR(symbol());
    } else if (word.text == "return") {
      break;
    } else if (word.text == "symbol") {
      return error_at(word, "expected symbols before the first node, found 'symbol'");
    } else {
      return error_at(word, "expected a node, a symbol or 'return', found " + word.describe());
    }
  }
  if (tokens_.peek().is("}")) {
    return {};
  }
  TESSIQ_ASSIGN_OR_RETURN(std::vector<Value*> returned, values());
  graph_->set_results(std::move(returned));
  return {};
}

Result<void> Parser::symbol() {
  const Token name = tokens_.peek();
  if (name.kind != TokenKind::kWord || !is_symbol_name(name.text)) {
    return tokens_.expected("a symbol's name such as s0");
  }
  tokens_.take();
  SymbolDefinition definition{name.text, std::nullopt};
  if (tokens_.take_if("=")) {
    const Token start = tokens_.peek();
    TESSIQ_ASSIGN_OR_RETURN(definition.expression, parse_size_expr(tokens_));
    if (auto checked = check_size_expr(*definition.expression); !checked) {
      return error_at(start, checked.error().message());
    }
  }
  if (auto defined = graph_->define_symbol(std::move(definition)); !defined) {
    return error_at(name, defined.error().message());
  }
  return {};
}

Result<void> Parser::node() {
  std::vector<Typed> results;
  do {
    TESSIQ_ASSIGN_OR_RETURN(Typed result, typed());
    results.push_back(std::move(result));
  } while (tokens_.take_if(","));
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("="));
  if (tokens_.peek().kind != TokenKind::kWord || !is_name(tokens_.peek().text)) {
    return tokens_.expected("an operation's name");
  }
  const Token op = tokens_.take();
  return named_node(op, std::move(results));
}

Result<void> Parser::named_node(const Token& op, std::vector<Typed> results) {
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("("));
  std::vector<Value*> operands;
  if (!tokens_.peek().is(")")) {
    TESSIQ_ASSIGN_OR_RETURN(operands, values());
  }
  TESSIQ_RETURN_IF_ERROR(tokens_.expect(")"));
  AttributeMap attributes;
  if (tokens_.take_if("{")) {
    TESSIQ_ASSIGN_OR_RETURN(attributes, this->attributes());
  }
  std::vector<ResultSpec> specs;
  for (Typed& result : results) {
    specs.push_back({result.name.text, std::move(result.type)});
  }
  auto added = graph_->add_node(op.text, std::move(operands), std::move(attributes), std::move(specs));
  if (!added) {
    return error_at(results.empty() ? op : results.front().name, added.error().message());
  }
  return {};
}

Result<Parser::Typed> Parser::typed() {
  if (tokens_.peek().kind != TokenKind::kValueName) {
    return tokens_.expected("a value's name such as %x");
  }
  Typed result;
  result.name = tokens_.take();
  TESSIQ_RETURN_IF_ERROR(tokens_.expect(":"));
  TESSIQ_ASSIGN_OR_RETURN(result.type, type());
  return result;
}

Result<TensorType> Parser::type() {
  const Token start = tokens_.peek();
  const std::optional<ElementType> element =
      start.kind == TokenKind::kWord ? parse_element_type(start.text) : std::nullopt;
  if (!element) {
    return tokens_.expected("an element type such as f32");
  }
  tokens_.take();
  TensorType type;
  type.element = *element;
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("["));
  TESSIQ_ASSIGN_OR_RETURN(type.shape, sizes("]"));
  if (tokens_.take_if("{")) {
    TESSIQ_ASSIGN_OR_RETURN(type.strides, sizes("}"));
  }
  if (auto checked = check_type(type); !checked) {
    return error_at(start, checked.error().message());
  }
  return type;
}

// Extents up to and with the closing bracket.
Result<std::vector<Extent>> Parser::sizes(std::string_view close) {
  std::vector<Extent> extents;
  if (tokens_.take_if(close)) {
    return extents;
  }
  do {
    TESSIQ_ASSIGN_OR_RETURN(Extent extent, parse_extent(tokens_));
    extents.push_back(std::move(extent));
  } while (tokens_.take_if(","));
  TESSIQ_RETURN_IF_ERROR(tokens_.expect(close));
  return extents;
}

Result<std::vector<Value*>> Parser::values() {
  std::vector<Value*> values;
  do {
    const Token& token = tokens_.peek();
    if (token.kind != TokenKind::kValueName) {
      return tokens_.expected("a value's name such as %x");
    }
    Value* value = graph_->find_value(token.text);
    if (value == nullptr) {
      return error_at(token, token.describe() + " is not defined before it is read");
    }
    values.push_back(value);
    tokens_.take();
  } while (tokens_.take_if(","));
  return values;
}

// Up to and with the closing brace. At least one: the braces are left out where there is none.
Result<AttributeMap> Parser::attributes() {
  AttributeMap attributes;
  do {
    if (tokens_.peek().kind != TokenKind::kWord || !is_name(tokens_.peek().text)) {
      return tokens_.expected("an attribute's key");
    }
    const Token key = tokens_.take();
    TESSIQ_RETURN_IF_ERROR(tokens_.expect("="));
    TESSIQ_ASSIGN_OR_RETURN(Attribute value, attribute());
    if (!attributes.emplace(key.text, std::move(value)).second) {
      return error_at(key, "attribute " + key.text + " is given twice");
    }
  } while (tokens_.take_if(","));
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("}"));
  return attributes;
}

Result<Attribute> Parser::attribute() {
  if (tokens_.peek().kind == TokenKind::kString) {
    return Attribute(tokens_.take().text);
  }
  if (tokens_.take_if("[")) {
    return list_attribute();
  }
  if (tokens_.take_if("?")) {
    return Attribute(Extent::unknown());
  }
  if (tokens_.peek().kind == TokenKind::kWord) {
    return word_attribute();
  }
  return tokens_.expected("an attribute's value");
}

Result<Attribute> Parser::word_attribute() {
  const std::string& word = tokens_.peek().text;
  if (word == "none") {
    tokens_.take();
    return Attribute(None{});
  }
  if (word == "true" || word == "false") {
    return Attribute(tokens_.take().text == "true");
  }
  if (is_float(word)) {
    TESSIQ_ASSIGN_OR_RETURN(const double value, number());
    return Attribute(value);
  }
  if (is_integer(word)) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t value, parse_integer(tokens_.take()));
    return Attribute(value);
  }
  if (is_symbol_name(word)) {
    return Attribute(Extent::symbol(tokens_.take().text));
  }
  return tokens_.expected("an attribute's value");
}

Result<Attribute> Parser::list_attribute() {
  if (!at_float()) {
    TESSIQ_ASSIGN_OR_RETURN(SizeList list, sizes("]"));
    return Attribute(std::move(list));
  }
  FloatList list;
  do {
    if (!at_float()) {
      return tokens_.expected("a float: a list holds floats or sizes, not both");
    }
    TESSIQ_ASSIGN_OR_RETURN(const double value, number());
    list.push_back(value);
  } while (tokens_.take_if(","));
  TESSIQ_RETURN_IF_ERROR(tokens_.expect("]"));
  return Attribute(std::move(list));
}

Result<double> Parser::number() {
  const Token token = tokens_.take();
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return error_at(token, "expected a number that fits in a double, found " + token.describe());
  }
  return value;
}

}  // namespace

Result<std::unique_ptr<Graph>> parse(std::string_view text) { return Parser(text).graph(); }

}  // namespace tessiq::ir
