// The compiler's program: parameters, an ordered list of nodes in SSA form, and results, with use lists kept up to
// date.
//
// Every mutation goes through a method here, which updates both sides of a use. Nothing in ir/ knows that a device or
// PyTorch exists; what an operation means is the operation table's to say.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/attribute.h"
#include "ir/type.h"
#include "support/result.h"

namespace tessiq::ir {

class Graph;
class Node;

// One operand slot of one node.
struct Use {
  Node* node = nullptr;
  int operand_index = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

// A graph parameter or one result of one node; assigned once.
class Value {
 public:
  const std::string& name() const { return name_; }
  const TensorType& type() const { return type_; }
  // Null for a parameter.
  Node* producer() const { return producer_; }
  int result_index() const { return result_index_; }
  bool is_parameter() const { return producer_ == nullptr; }
  // In the order the uses were made. A graph result is not a use: see Graph::is_result.
  const std::vector<Use>& uses() const { return uses_; }

 private:
  friend class Graph;
  friend class Node;
  Value(std::string name, TensorType type, Node* producer, int result_index);

  std::string name_;
  TensorType type_;
  Node* producer_;
  int result_index_;
  std::vector<Use> uses_;
  size_t returned_ = 0;  // how often it stands among the graph's results
};

class Node {
 public:
  // PyTorch's name ("aten.add.Tensor"), a short one ("add"), or one a pass introduced ("tessiq.pack").
  const std::string& op() const { return op_; }
  const std::vector<Value*>& operands() const { return operands_; }
  Value* operand(int index) const { return operands_[static_cast<size_t>(index)]; }
  int result_count() const { return static_cast<int>(results_.size()); }
  Value* result(int index = 0) const { return results_[static_cast<size_t>(index)].get(); }
  // The name of result 0, or "<op>" for a node without results.
  std::string_view name() const;

  const AttributeMap& attributes() const { return attributes_; }
  // Null where the node has no such attribute.
  const Attribute* attribute(std::string_view key) const;
  // Returns whether that changed the node. Requires a key that is a name in the sense of ir/name.h.
  bool set_attribute(std::string_view key, Attribute value);
  bool remove_attribute(std::string_view key);

  // "file.py:12" of the user's line, empty where not known; not part of the text form.
  const std::string& location() const { return location_; }
  void set_location(std::string location) { location_ = std::move(location); }

  void set_operand(int index, Value* value);
  // Keeps results and name; for rewrites that spell the same computation otherwise.
  // Requires a name in the sense of ir/name.h.
  void set_op(std::string op) { op_ = std::move(op); }

 private:
  friend class Graph;
  Node() = default;

  std::string op_;
  std::vector<Value*> operands_;
  std::vector<std::unique_ptr<Value>> results_;
  AttributeMap attributes_;
  std::string location_;
  Graph* graph_ = nullptr;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

struct ResultSpec {
  std::string name;
  TensorType type;
};

class Graph {
 public:
  using NodeList = std::list<std::unique_ptr<Node>>;

  explicit Graph(std::string name = "main");
  ~Graph();
  Graph(const Graph&) = delete;  // nodes point back at their graph
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<std::unique_ptr<Value>>& parameters() const { return parameters_; }
  const NodeList& nodes() const { return nodes_; }
  const std::vector<Value*>& results() const { return results_; }
  const std::vector<SymbolDefinition>& symbols() const { return symbols_; }

  // kInvalidArgument, here and below, on a name already taken or that cannot be printed, and on a malformed type.
  // Layouts are stored normalized.
  Result<Value*> add_parameter(std::string name, TensorType type);
  // Appended, or placed before `before`. Refuses operands of another graph.
  Result<Node*> add_node(std::string op, std::vector<Value*> operands, AttributeMap attributes,
                         std::vector<ResultSpec> results, Node* before = nullptr);
  // Free symbols need no declaration; a definition may name symbols defined before it and free ones.
  Result<void> define_symbol(SymbolDefinition definition);
  const SymbolDefinition* find_symbol(std::string_view name) const;

  void set_results(std::vector<Value*> results);
  bool is_result(const Value* value) const;

  // The same results by another operation: they keep their names, types and readers, the node its location and place.
  // Refuses operands of another graph. The operands have to be defined before the node.
  Result<void> respell(Node* node, std::string op, std::vector<Value*> operands, AttributeMap attributes);
  // Refuses while a result is read or returned, naming the readers.
  Result<void> erase_node(Node* node);
  // Moves uses and graph results. Returns whether anything moved. Types may differ only in layout.
  bool replace_all_uses(Value* from, Value* to);
  // Moves uses and leaves graph results: what a graph returns are tensors of their own, and a result that moved could
  // make two of them, or one and an input, the same memory. Returns whether anything moved.
  bool replace_reads(Value* from, Value* to);
  // For shape inference and layout passes.
  void set_type(Value* value, TensorType type);
  // Moves the node before another one of this graph.
  void move_before(Node* node, Node* before);

  // Null where there is none.
  Value* find_value(std::string_view name) const;
  // `base`, or `base` with the smallest suffix "_1", "_2" that makes it new.
  std::string unique_name(std::string_view base) const;
  size_t node_count() const { return nodes_.size(); }

 private:
  friend class Node;
  Result<void> check_new_value(const std::string& name, const TensorType& type) const;
  Result<void> check_new_node(const std::string& op, const std::vector<Value*>& operands,
                              const AttributeMap& attributes, const std::vector<ResultSpec>& results,
                              const Node* before) const;
  void add_use(Value* value, Node* node, int operand_index);
  void remove_use(Value* value, Node* node, int operand_index);

  std::string name_;
  std::vector<std::unique_ptr<Value>> parameters_;
  NodeList nodes_;
  std::vector<Value*> results_;
  std::vector<SymbolDefinition> symbols_;
  // Looked up by name and never iterated, so that nothing follows hash order.
  std::unordered_map<std::string, Value*> values_;
  std::unordered_map<std::string, size_t> symbol_index_;
  std::unordered_set<std::string> symbols_read_;  // by definitions
};

}  // namespace tessiq::ir
