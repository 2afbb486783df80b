// Finding a computation written out in single operations, from a pattern in the text form of graphs.
//
// Decides what matches: the same operations on the same values, attributes equal as numbers, the operands of a
// commutative operation in either order. A symbol in place of an attribute captures a number. A negative axis of a
// reduction is counted from the end. Types are not compared.
// Leaves to the rewrite which matches may be replaced by what.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::passes {

struct Match {
  std::map<std::string, ir::Value*> inputs;       // by the pattern's parameter
  std::map<std::string, ir::Attribute> captures;  // by the symbol
  std::vector<ir::Node*> nodes;                   // in the pattern's order; the last gives the result
};

class Pattern {
 public:
  // One pattern a graph of the text, in order. kInvalidArgument, with the pattern's position where there are several:
  // text that does not parse, a pattern that does not return exactly one value or does not use every node for it.
  static Result<std::vector<Pattern>> parse_all(std::string_view text);

  // Names that a match binds: parameters, and symbols that stand for an attribute.
  std::vector<std::string> parameters() const;
  std::vector<std::string> symbols() const;

  // The match that ends in `root`, or nothing.
  std::optional<Match> match(ir::Node& root) const;

 private:
  explicit Pattern(std::unique_ptr<ir::Graph> graph);

  std::shared_ptr<const ir::Graph> graph_;
  const ir::Node* result_ = nullptr;
  std::vector<const ir::Node*> swappable_;  // commutative operations of two different operands
};

// Whether a match can be replaced by one operation: nothing inside it but its result is read or returned elsewhere, by
// the operation that takes its place neither.
bool is_replaceable(const ir::Graph& graph, const Match& match);

}  // namespace tessiq::passes
