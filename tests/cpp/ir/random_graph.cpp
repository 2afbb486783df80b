// Draws a graph top down. Draws only from the generator's raw numbers: distributions differ between standard libraries.
#include "random_graph.h"

#include <bit>
#include <random>
#include <string>
#include <utility>

namespace tessiq::ir::testing_support {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : engine_(seed), graph_(std::make_unique<Graph>("g" + std::to_string(seed % 7))) {}

  std::unique_ptr<Graph> run() {
    for (uint64_t i = below(4); i > 0; --i) {
      (void)graph_->define_symbol(
          {"d" + std::to_string(i), below(4) == 0 ? std::nullopt : std::optional(expression(4))});
    }
    for (uint64_t i = below(5); i > 0; --i) {
      values_.push_back(graph_->add_parameter(name(), type()).value());
    }
    for (uint64_t i = below(12); i > 0; --i) {
      add_node();
    }
    graph_->set_results(some_values(4));
    return std::move(graph_);
  }

 private:
  uint64_t below(uint64_t bound) { return engine_() % bound; }

  std::string name() { return graph_->unique_name(word()); }

  std::string word() {
    constexpr std::string_view kLetters = "abzAZ019_.";
    std::string text;
    for (uint64_t i = 1 + below(5); i > 0; --i) {
      text += kLetters[below(kLetters.size())];
    }
    return text;
  }

  int64_t integer() {
    switch (below(4)) {
      case 0:
        return static_cast<int64_t>(engine_());
      case 1:
        return -static_cast<int64_t>(below(10));
      default:
        return static_cast<int64_t>(below(100));
    }
  }

  // Any bits: subnormals, infinities and NaNs among them.
  double number() { return below(2) == 0 ? std::bit_cast<double>(engine_()) : static_cast<double>(integer()) / 8; }

  std::string symbol() { return (below(2) == 0 ? "s" : "d") + std::to_string(below(4)); }

  Extent extent(bool may_be_negative) {
    switch (below(4)) {
      case 0:
        return Extent::unknown();
      case 1:
        return Extent::symbol(symbol());
      default:
        return may_be_negative ? integer() : static_cast<int64_t>(below(5));
    }
  }

  SizeList extents(uint64_t count, bool may_be_negative) {
    SizeList list;
    for (uint64_t i = 0; i < count; ++i) {
      list.push_back(extent(may_be_negative));
    }
    return list;
  }

  TensorType type() {
    TensorType type;
    type.element = static_cast<ElementType>(below(kElementTypeCount));
    type.shape = extents(below(4), false);
    if (below(3) == 0) {
      type.strides = extents(type.shape.size(), false);
    }
    return type;
  }

  SizeExpr expression(int depth) {
    using Kind = SizeExpr::Kind;
    if (depth == 0 || below(3) == 0) {
      // Definitions are numbered downwards, so a free symbol is all that one may always read.
      return below(2) == 0 ? SizeExpr::of_constant(integer()) : SizeExpr::of_symbol("s" + std::to_string(below(3)));
    }
    constexpr Kind kKinds[] = {Kind::kAdd, Kind::kMul, Kind::kFloorDiv, Kind::kMod, Kind::kMin, Kind::kMax};
    const Kind kind = kKinds[below(std::size(kKinds))];
    const uint64_t count = kind == Kind::kFloorDiv || kind == Kind::kMod ? 2 : 2 + below(2);
    std::vector<SizeExpr> operands;
    for (uint64_t i = 0; i < count; ++i) {
      operands.push_back(expression(depth - 1));
    }
    return SizeExpr::of(kind, std::move(operands));
  }

  std::string bytes() {
    std::string text;
    for (uint64_t i = below(6); i > 0; --i) {
      text += static_cast<char>(engine_());
    }
    return text;
  }

  Attribute attribute() {
    switch (below(8)) {
      case 0:
        return None{};
      case 1:
        return below(2) == 0;
      case 2:
        return integer();
      case 3:
        return number();
      case 4:
        return bytes();
      case 5:
        return extent(true);
      case 6:
        return extents(below(4), true);
      default: {
        FloatList list;
        for (uint64_t i = below(4); i > 0; --i) {
          list.push_back(number());
        }
        return list;
      }
    }
  }

  std::vector<Value*> some_values(uint64_t most) {
    std::vector<Value*> chosen;
    for (uint64_t i = values_.empty() ? 0 : below(most); i > 0; --i) {
      chosen.push_back(values_[below(values_.size())]);
    }
    return chosen;
  }

  void add_node() {
    AttributeMap attributes;
    for (uint64_t i = below(4); i > 0; --i) {
      attributes.insert_or_assign(below(2) == 0 ? std::to_string(below(12)) : word(), attribute());
    }
    std::vector<ResultSpec> results;
    for (uint64_t i = below(3); i > 0; --i) {
      results.push_back({graph_->unique_name("r" + std::to_string(i) + word()), type()});
    }
    Node* node = graph_->add_node(word(), some_values(4), std::move(attributes), std::move(results)).value();
    for (int i = 0; i < node->result_count(); ++i) {
      values_.push_back(node->result(i));
    }
  }

  std::mt19937_64 engine_;
  std::unique_ptr<Graph> graph_;
  std::vector<Value*> values_;
};

}  // namespace

std::unique_ptr<Graph> random_graph(uint64_t seed) { return Generator(seed).run(); }

}  // namespace tessiq::ir::testing_support
