// Matching from the result backwards, once for each way to order the operands of commutative operations.
#include "passes/rewrite/pattern.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/claim.h"
#include "ir/text/text.h"
#include "optable/lookup.h"

namespace tessiq::passes {
namespace {

// Each doubles the orders that are tried.
constexpr size_t kMaxSwappable = 10;

const ir::Extent* captured(const ir::Attribute& attribute) {
  const auto* extent = std::get_if<ir::Extent>(&attribute);
  return extent != nullptr && extent->is_symbol() ? extent : nullptr;
}

std::optional<double> number_of(const ir::Attribute& attribute) {
  if (const auto* integer = std::get_if<int64_t>(&attribute)) {
    return static_cast<double>(*integer);
  }
  if (const auto* flag = std::get_if<bool>(&attribute)) {
    return *flag ? 1 : 0;
  }
  const auto* real = std::get_if<double>(&attribute);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

bool equal_numerically(const ir::Attribute& a, const ir::Attribute& b) {
  const std::optional<double> left = number_of(a);
  const std::optional<double> right = number_of(b);
  return left && right ? *left == *right : ir::attributes_equal(a, b);
}

// Two spellings of one operation have one row.
bool same_operation(const ir::Node& a, const ir::Node& b) {
  if (a.op() == b.op()) {
    return true;
  }
  const optable::OpInfo* row = optable::find_op(a.op());
  return row != nullptr && row == optable::find_op(b.op());
}

// A negative axis of a pattern counts from the end of whatever it is matched with.
bool equal_axes(const ir::Attribute& wanted, const ir::Attribute& found, int64_t rank) {
  const auto* axes = std::get_if<ir::SizeList>(&wanted);
  const auto* others = std::get_if<ir::SizeList>(&found);
  return axes != nullptr && others != nullptr &&
         std::equal(axes->begin(), axes->end(), others->begin(), others->end(),
                    [&](const ir::Extent& axis, const ir::Extent& other) {
                      return axis == other || (axis.is_known() && other.is_known() && axis.known() < 0 &&
                                               axis.known() == other.known() - rank);
                    });
}

bool names_axes(const ir::Node& node, std::string_view key) {
  const optable::OpInfo* row = optable::find_op(node.op());
  return row != nullptr && row->is_reduction() && (key == "1" || key == "dim") && !node.operands().empty();
}

// Changes nothing of what is computed, so that a pattern need not say it.
bool is_ignored(const ir::Node& node, std::string_view key) {
  const optable::OpInfo* row = optable::find_op(node.op());
  return row != nullptr &&
         std::find(row->ignored_keywords.begin(), row->ignored_keywords.end(), key) != row->ignored_keywords.end();
}

bool is_decision(std::string_view key) { return key.starts_with(ir::kPassPrefix); }

class Matching {
 public:
  explicit Matching(const std::unordered_set<const ir::Node*>& swapped) : swapped_(swapped) {}

  bool match(const ir::Node& pattern, ir::Node& node) {
    if (const auto bound = nodes_.find(&pattern); bound != nodes_.end()) {
      return bound->second == &node;
    }
    const size_t count = pattern.operands().size();
    if (!same_operation(pattern, node) || node.operands().size() != count ||
        node.result_count() != pattern.result_count() || node.attribute(analysis::kDeviceAttribute) != nullptr ||
        !match_attributes(pattern, node)) {
      return false;
    }
    // Two of the pattern are two of the graph: one node can give way once.
    if (!taken_.insert(&node).second) {
      return false;
    }
    nodes_.emplace(&pattern, &node);
    const bool swap = swapped_.contains(&pattern);
    for (size_t i = 0; i < count; ++i) {
      if (!match_value(*pattern.operands()[i], *node.operands()[swap ? count - 1 - i : i])) {
        return false;
      }
    }
    return true;
  }

  Match take(const ir::Graph& pattern) && {
    for (const auto& node : pattern.nodes()) {
      found_.nodes.push_back(nodes_.at(node.get()));
    }
    return std::move(found_);
  }

 private:
  bool match_value(const ir::Value& pattern, ir::Value& value) {
    if (pattern.is_parameter()) {
      // The same value everywhere: a graph that squares one tensor and multiplies another is something else.
      return found_.inputs.emplace(pattern.name(), &value).first->second == &value;
    }
    return !value.is_parameter() && value.result_index() == pattern.result_index() &&
           match(*pattern.producer(), *value.producer());
  }

  // Of the graph's attributes, each that the pattern does not have must be one that changes nothing.
  bool match_attributes(const ir::Node& pattern, const ir::Node& node) {
    for (const auto& [key, found] : node.attributes()) {
      if (pattern.attribute(key) == nullptr && !is_decision(key) && !is_ignored(node, key)) {
        return false;
      }
    }
    for (const auto& [key, wanted] : pattern.attributes()) {
      const ir::Attribute* found = node.attribute(key);
      if (!is_decision(key) && (found == nullptr || !match_attribute(node, key, wanted, *found))) {
        return false;
      }
    }
    return true;
  }

  bool match_attribute(const ir::Node& node, std::string_view key, const ir::Attribute& wanted,
                       const ir::Attribute& found) {
    if (const ir::Extent* symbol = captured(wanted)) {
      return capture(symbol->name(), found);
    }
    if (names_axes(node, key)) {
      const auto rank = static_cast<int64_t>(node.operand(0)->type().shape.size());
      return equal_axes(wanted, found, rank) || equal_numerically(wanted, found);
    }
    return equal_numerically(wanted, found);
  }

  bool capture(const std::string& name, const ir::Attribute& attribute) {
    if (!number_of(attribute)) {
      return false;
    }
    const auto [entry, is_new] = found_.captures.emplace(name, attribute);
    return is_new || equal_numerically(entry->second, attribute);
  }

  const std::unordered_set<const ir::Node*>& swapped_;
  std::unordered_map<const ir::Node*, ir::Node*> nodes_;  // looked up by pattern node, never iterated
  std::unordered_set<const ir::Node*> taken_;
  Match found_;
};

// The text of each graph: a line that starts with "graph" starts one.
std::vector<std::string> split_graphs(std::string_view text) {
  std::vector<std::string> graphs(1);
  bool started = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with("graph") && std::exchange(started, true)) {
      graphs.emplace_back();
    }
    graphs.back() += line;
    text.remove_prefix(line.size());
  }
  return graphs;
}

Result<void> check_pattern(const ir::Graph& graph) {
  if (graph.results().size() != 1) {
    return invalid_argument("a pattern returns exactly one value, and this one returns " +
                            std::to_string(graph.results().size()));
  }
  if (graph.results().front()->is_parameter()) {
    return invalid_argument("the pattern returns its parameter %" + graph.results().front()->name() +
                            " and computes nothing");
  }
  for (const auto& node : graph.nodes()) {
    bool used = node.get() == graph.results().front()->producer();
    for (int i = 0; i < node->result_count(); ++i) {
      used = used || !node->result(i)->uses().empty();
    }
    if (!used) {
      return invalid_argument("%" + std::string(node->name()) + " of the pattern is not read by its result");
    }
  }
  return {};
}

}  // namespace

Pattern::Pattern(std::unique_ptr<ir::Graph> graph) : graph_(std::move(graph)) {
  result_ = graph_->results().front()->producer();
  for (const auto& node : graph_->nodes()) {
    const optable::OpInfo* row = optable::find_op(node->op());
    if (row != nullptr && row->commutative && node->operands().size() == 2 && node->operand(0) != node->operand(1)) {
      swappable_.push_back(node.get());
    }
  }
}

Result<std::vector<Pattern>> Pattern::parse_all(std::string_view text) {
  std::vector<Pattern> patterns;
  const std::vector<std::string> texts = split_graphs(text);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto where = [&](Error error) {
      return texts.size() == 1 ? error : std::move(error).with_context("pattern " + std::to_string(i + 1));
    };
    auto graph = ir::parse(texts[i]);
    if (!graph) {
      return where(std::move(graph).error());
    }
    if (auto checked = check_pattern(**graph); !checked) {
      return where(std::move(checked).error());
    }
    patterns.push_back(Pattern(*std::move(graph)));
    if (patterns.back().swappable_.size() > kMaxSwappable) {
      return where(invalid_argument("the pattern has more than " + std::to_string(kMaxSwappable) +
                                    " operations whose operands may be swapped"));
    }
  }
  return patterns;
}

std::vector<std::string> Pattern::parameters() const {
  std::vector<std::string> names;
  for (const auto& parameter : graph_->parameters()) {
    names.push_back(parameter->name());
  }
  return names;
}

std::vector<std::string> Pattern::symbols() const {
  std::vector<std::string> names;
  for (const auto& node : graph_->nodes()) {
    for (const auto& [key, attribute] : node->attributes()) {
      if (const ir::Extent* symbol = captured(attribute)) {
        names.push_back(symbol->name());
      }
    }
  }
  return names;
}

std::optional<Match> Pattern::match(ir::Node& root) const {
  if (!same_operation(*result_, root)) {
    return std::nullopt;
  }
  for (size_t order = 0; order < size_t{1} << swappable_.size(); ++order) {
    std::unordered_set<const ir::Node*> swapped;
    for (size_t i = 0; i < swappable_.size(); ++i) {
      if ((order >> i & 1U) != 0) {
        swapped.insert(swappable_[i]);
      }
    }
    Matching matching(swapped);
    if (matching.match(*result_, root)) {
      return std::move(matching).take(*graph_);
    }
  }
  return std::nullopt;
}

bool is_replaceable(const ir::Graph& graph, const Match& match) {
  const std::unordered_set<const ir::Node*> inside(match.nodes.begin(), match.nodes.end());
  const ir::Node* result = match.nodes.back();
  for (const auto& [name, input] : match.inputs) {
    if (!input->is_parameter() && inside.contains(input->producer())) {
      return false;
    }
  }
  for (const ir::Node* node : match.nodes) {
    if (node == result) {
      continue;
    }
    for (int i = 0; i < node->result_count(); ++i) {
      const std::vector<ir::Use>& uses = node->result(i)->uses();
      const auto is_inside = [&](const ir::Use& use) { return inside.contains(use.node); };
      if (graph.is_result(node->result(i)) || !std::all_of(uses.begin(), uses.end(), is_inside)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tessiq::passes
