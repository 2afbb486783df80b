// Values, nodes and the mutations of a graph; each updates both sides of every use it touches.
#include "ir/graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/name.h"

namespace tessiq::ir {
namespace {

// A message stays readable when a thousand nodes read the value.
constexpr size_t kReadersNamed = 8;

std::string readers_of(const Value& value) {
  std::string text;
  for (size_t i = 0; i < std::min(value.uses().size(), kReadersNamed); ++i) {
    text += (i == 0 ? "%" : ", %") + std::string(value.uses()[i].node->name());
  }
  if (value.uses().size() > kReadersNamed) {
    text += " and " + std::to_string(value.uses().size() - kReadersNamed) + " more";
  }
  return text;
}

Error not_a_name(std::string_view what, std::string_view text) {
  return invalid_argument("\"" + std::string(text) + "\" cannot name " + std::string(what) +
                          ": letters, digits, _ and . only");
}

void collect_symbols(const SizeExpr& expr, std::vector<std::string>& names) {
  if (expr.kind == SizeExpr::Kind::kSymbol) {
    names.push_back(expr.symbol);
  }
  for (const SizeExpr& operand : expr.operands) {
    collect_symbols(operand, names);
  }
}

}  // namespace

Value::Value(std::string name, TensorType type, Node* producer, int result_index)
    : name_(std::move(name)), type_(normalized(std::move(type))), producer_(producer), result_index_(result_index) {}

std::string_view Node::name() const { return results_.empty() ? op_ : results_.front()->name(); }

const Attribute* Node::attribute(std::string_view key) const {
  const auto found = attributes_.find(key);
  return found == attributes_.end() ? nullptr : &found->second;
}

bool Node::set_attribute(std::string_view key, Attribute value) {
  value = normalized(std::move(value));
  const auto found = attributes_.find(key);
  if (found == attributes_.end()) {
    attributes_.emplace(std::string(key), std::move(value));
    return true;
  }
  if (attributes_equal(found->second, value)) {
    return false;
  }
  found->second = std::move(value);
  return true;
}

bool Node::remove_attribute(std::string_view key) {
  const auto found = attributes_.find(key);
  if (found == attributes_.end()) {
    return false;
  }
  attributes_.erase(found);
  return true;
}

void Node::set_operand(int index, Value* value) {
  Value*& slot = operands_[static_cast<size_t>(index)];
  if (slot == value) {
    return;
  }
  graph_->remove_use(slot, this, index);
  slot = value;
  graph_->add_use(value, this, index);
}

Graph::Graph(std::string name) : name_(std::move(name)) {}

Graph::~Graph() = default;

Result<void> Graph::check_new_value(const std::string& name, const TensorType& type) const {
  if (!is_name(name)) {
    return not_a_name("a value", name);
  }
  if (values_.contains(name)) {
    return invalid_argument("%" + name + " is already defined in this graph");
  }
  if (auto checked = check_type(type); !checked) {
    return std::move(checked).error().with_context("%" + name);
  }
  return {};
}

Result<Value*> Graph::add_parameter(std::string name, TensorType type) {
  TESSIQ_RETURN_IF_ERROR(check_new_value(name, type));
  parameters_.push_back(
      std::unique_ptr<Value>(new Value(name, std::move(type), nullptr, static_cast<int>(parameters_.size()))));
  values_.emplace(std::move(name), parameters_.back().get());
  return parameters_.back().get();
}

Result<void> Graph::check_new_node(const std::string& op, const std::vector<Value*>& operands,
                                   const AttributeMap& attributes, const std::vector<ResultSpec>& results,
                                   const Node* before) const {
  if (!is_name(op)) {
    return not_a_name("an operation", op);
  }
  if (before != nullptr && before->graph_ != this) {
    return invalid_argument("the node to insert " + op + " before belongs to another graph");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr || find_value(operands[i]->name()) != operands[i]) {
      return invalid_argument("operand " + std::to_string(i) + " of " + op + " is not a value of this graph");
    }
  }
  for (const auto& [key, attribute] : attributes) {
    if (!is_name(key)) {
      return not_a_name("an attribute of " + op, key);
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    TESSIQ_RETURN_IF_ERROR(check_new_value(results[i].name, results[i].type));
    const auto same_name = [&](const ResultSpec& other) { return other.name == results[i].name; };
    if (std::any_of(results.begin(), results.begin() + static_cast<ptrdiff_t>(i), same_name)) {
      return invalid_argument("%" + results[i].name + " names two results of one " + op);
    }
  }
  return {};
}

Result<Node*> Graph::add_node(std::string op, std::vector<Value*> operands, AttributeMap attributes,
                              std::vector<ResultSpec> results, Node* before) {
  TESSIQ_RETURN_IF_ERROR(check_new_node(op, operands, attributes, results, before));
  std::unique_ptr<Node> owned(new Node());
  Node* node = owned.get();
  node->graph_ = this;
  node->op_ = std::move(op);
  node->operands_ = std::move(operands);
  for (auto& [key, attribute] : attributes) {
    node->attributes_.emplace(key, normalized(std::move(attribute)));
  }
  for (ResultSpec& spec : results) {
    const int index = static_cast<int>(node->results_.size());
    node->results_.push_back(std::unique_ptr<Value>(new Value(spec.name, std::move(spec.type), node, index)));
    values_.emplace(std::move(spec.name), node->results_.back().get());
  }
  for (size_t i = 0; i < node->operands_.size(); ++i) {
    add_use(node->operands_[i], node, static_cast<int>(i));
  }
  node->position_ = nodes_.insert(before == nullptr ? nodes_.end() : before->position_, std::move(owned));
  return node;
}

Result<void> Graph::respell(Node* node, std::string op, std::vector<Value*> operands, AttributeMap attributes) {
  TESSIQ_RETURN_IF_ERROR(check_new_node(op, operands, attributes, {}, node));
  for (size_t i = node->operands_.size(); i > 0; --i) {
    remove_use(node->operands_[i - 1], node, static_cast<int>(i - 1));
  }
  node->op_ = std::move(op);
  node->operands_ = std::move(operands);
  for (size_t i = 0; i < node->operands_.size(); ++i) {
    add_use(node->operands_[i], node, static_cast<int>(i));
  }
  node->attributes_.clear();
  for (auto& [key, attribute] : attributes) {
    node->attributes_.emplace(key, normalized(std::move(attribute)));
  }
  return {};
}

Result<void> Graph::define_symbol(SymbolDefinition definition) {
  const std::string& name = definition.name;
  if (!is_symbol_name(name)) {
    return invalid_argument("\"" + name + "\" cannot name a size symbol");
  }
  if (symbol_index_.contains(name)) {
    return invalid_argument("symbol " + name + " is already defined in this graph");
  }
  std::vector<std::string> read;
  if (definition.expression) {
    TESSIQ_RETURN_IF_ERROR(check_size_expr(*definition.expression));
    collect_symbols(*definition.expression, read);
    // Definitions are evaluated in order; one read before it is defined could close a cycle.
    if (symbols_read_.contains(name) || std::find(read.begin(), read.end(), name) != read.end()) {
      return invalid_argument("symbol " + name + " is read by a definition before it is defined");
    }
  }
  symbols_read_.insert(read.begin(), read.end());
  symbol_index_.emplace(name, symbols_.size());
  symbols_.push_back(std::move(definition));
  return {};
}

const SymbolDefinition* Graph::find_symbol(std::string_view name) const {
  const auto found = symbol_index_.find(std::string(name));
  return found == symbol_index_.end() ? nullptr : &symbols_[found->second];
}

void Graph::set_results(std::vector<Value*> results) {
  for (Value* result : results_) {
    result->returned_ -= 1;
  }
  results_ = std::move(results);
  for (Value* result : results_) {
    result->returned_ += 1;
  }
}

bool Graph::is_result(const Value* value) const { return value->returned_ > 0; }

Result<void> Graph::erase_node(Node* node) {
  for (const std::unique_ptr<Value>& result : node->results_) {
    if (!result->uses_.empty()) {
      return invalid_argument("%" + result->name_ + " cannot be erased: it is read by " + readers_of(*result));
    }
    if (is_result(result.get())) {
      return invalid_argument("%" + result->name_ + " cannot be erased: the graph returns it");
    }
  }
  // From the last operand on, so that a value read twice gives up its uses in reverse order.
  for (size_t i = node->operands_.size(); i > 0; --i) {
    remove_use(node->operands_[i - 1], node, static_cast<int>(i - 1));
  }
  for (const std::unique_ptr<Value>& result : node->results_) {
    values_.erase(result->name_);
  }
  nodes_.erase(node->position_);
  return {};
}

bool Graph::replace_reads(Value* from, Value* to) {
  if (from == to || from->uses_.empty()) {
    return false;
  }
  for (const Use& use : from->uses_) {
    use.node->operands_[static_cast<size_t>(use.operand_index)] = to;
    to->uses_.push_back(use);
  }
  from->uses_.clear();
  return true;
}

bool Graph::replace_all_uses(Value* from, Value* to) {
  const bool reads_moved = replace_reads(from, to);
  if (from == to || !is_result(from)) {
    return reads_moved;
  }
  std::replace(results_.begin(), results_.end(), from, to);
  to->returned_ += std::exchange(from->returned_, 0);
  return true;
}

void Graph::set_type(Value* value, TensorType type) { value->type_ = normalized(std::move(type)); }

void Graph::move_before(Node* node, Node* before) {
  if (node != before) {
    nodes_.splice(before->position_, nodes_, node->position_);
  }
}

Value* Graph::find_value(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? nullptr : found->second;
}

std::string Graph::unique_name(std::string_view base) const {
  std::string name(base);
  for (int suffix = 1; values_.contains(name); ++suffix) {
    name = std::string(base) + "_" + std::to_string(suffix);
  }
  return name;
}

void Graph::add_use(Value* value, Node* node, int operand_index) { value->uses_.push_back({node, operand_index}); }

void Graph::remove_use(Value* value, Node* node, int operand_index) {
  // From the back: a sweep that erases readers from the last to the first finds each at once.
  const auto found = std::find(value->uses_.rbegin(), value->uses_.rend(), Use{node, operand_index});
  if (found != value->uses_.rend()) {
    value->uses_.erase(std::next(found).base());
  }
}

}  // namespace tessiq::ir
