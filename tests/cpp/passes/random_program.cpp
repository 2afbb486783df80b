// Constants are drawn from the few that identities are about, values from the ones that break them.
#include "random_program.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "analysis/element_step.h"
#include "analysis/shape_rules.h"
#include "optable/lookup.h"

namespace tessiq::testing_support {
namespace {

using analysis::Scalar;
using ir::ElementType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Zeros of both signs more than once: an identity that loses one is the easiest to get wrong.
constexpr double kAwkward[] = {
    0.0,  -0.0, 1.0,  -1.0,      0.5,        2.5,   -0.0,
    -3.0, 0.0,  -0.0, kInfinity, -kInfinity, 1e-45, std::numeric_limits<double>::quiet_NaN()};
constexpr int64_t kIntegers[] = {0, 1, -1, 2, 7, 100, 127, -128, std::numeric_limits<int64_t>::min()};
// Preferred over the rest of the table, where an identity or a fold waits.
constexpr std::string_view kFavourites[] = {
    "add", "sub", "mul",   "div",         "neg",         "relu",       "abs",  "add",   "sub",  "mul",    "div",
    "neg", "neg", "where", "logical_not", "bitwise_not", "bitwise_or", "cast", "floor", "sign", "maximum"};

class Generator {
 public:
  explicit Generator(uint64_t seed) : engine_(seed) {
    for (const optable::OpInfo* op : optable::all_ops()) {
      if (op->has_expression() && op->category == optable::Category::kElementwise) {
        ops_.push_back(op);
      }
    }
  }

  RandomProgram run() {
    program_.graph = std::make_unique<ir::Graph>();
    program_.symbols = {{"s0", 3}};
    element_ = below(2) == 0 ? ElementType::kFloat32 : any_type();
    for (uint64_t i = 2 + below(2); i > 0; --i) {
      add_parameter();
    }
    for (uint64_t i = 4 + below(24); i > 0; --i) {
      below(6) == 0 ? add_constant() : below(4) == 0 ? repeat_node() : add_node();
    }
    // Most of what nobody reads is returned, so that little of what a pass gets wrong stays unseen.
    std::vector<ir::Value*> results;
    for (ir::Value* value : values_) {
      if (value->uses().empty() && below(4) != 0) {
        results.push_back(value);
      }
    }
    program_.graph->set_results(std::move(results));
    return std::move(program_);
  }

 private:
  uint64_t below(uint64_t bound) { return engine_() % bound; }
  ElementType any_type() { return static_cast<ElementType>(below(ir::kElementTypeCount)); }
  ir::Graph& graph() { return *program_.graph; }
  // Recent ones more often, so that chains grow and what a pass changed reaches a result.
  ir::Value* any_value() { return below(2) == 0 ? values_.back() : values_[below(values_.size())]; }

  ir::Shape shape() {
    const ir::Shape shapes[] = {
        {}, {1}, {3}, {2, 3}, {2, 1}, {ir::Extent::symbol("s0")}, {2, ir::Extent::symbol("s0")}};
    return shapes[below(std::size(shapes))];
  }

  Scalar scalar(ElementType type) {
    return ir::is_floating(type) ? Scalar::of_float(kAwkward[below(std::size(kAwkward))], type)
                                 : Scalar::of_integer(kIntegers[below(std::size(kIntegers))], type);
  }

  // One or a zero, which identities are about.
  Scalar neutral(ElementType type) {
    return ir::is_floating(type) ? Scalar::of_float(kAwkward[below(3)], type)
                                 : Scalar::of_integer(kIntegers[below(2)], type);
  }

  void add_parameter() {
    const ElementType type = below(4) == 0 ? any_type() : element_;
    ir::Value* value = graph().add_parameter(graph().unique_name("p"), {type, shape(), {}}).value();
    Tensor tensor;
    size_t count = 1;
    for (const ir::Extent& extent : value->type().shape) {
      tensor.shape.push_back(extent.is_known() ? extent.known() : program_.symbols.at(extent.name()));
      count *= static_cast<size_t>(tensor.shape.back());
    }
    for (size_t i = 0; i < count; ++i) {
      tensor.elements.push_back(scalar(type));
    }
    program_.parameters.push_back(std::move(tensor));
    values_.push_back(value);
  }

  void add_constant() {
    const ir::Shape sizes = shape();
    ir::AttributeMap attributes = {{"0", ir::SizeList(sizes)}, {"1", scalar(element_).to_attribute()}};
    try_node("full", {}, std::move(attributes), {element_, sizes, {}});
  }

  // The same node again, or nearly: what common subexpressions are made of.
  void repeat_node() {
    if (graph().node_count() == 0) {
      return;
    }
    auto at = graph().nodes().begin();
    std::advance(at, below(graph().node_count()));
    const ir::Node& node = **at;
    std::vector<ir::Value*> operands = node.operands();
    if (below(3) == 0 && operands.size() == 2) {
      std::swap(operands[0], operands[1]);
    }
    try_node(node.op(), std::move(operands), node.attributes(), node.result()->type());
  }

  const optable::OpInfo& any_op() {
    const std::string_view favourite = kFavourites[below(std::size(kFavourites))];
    const optable::OpInfo* op = below(4) != 0 ? optable::find_op(favourite) : nullptr;
    return op != nullptr ? *op : *ops_[below(ops_.size())];
  }

  void add_node() {
    const optable::OpInfo& op = any_op();
    ir::Value* first = any_value();
    const ElementType type = first->type().element;
    if (op.arity == 1 && below(3) == 0 && !first->is_parameter()) {
      // The same operation twice: idempotent, its own inverse, or neither.
      try_node(first->producer()->op(), {first}, first->producer()->attributes(), first->type());
      return;
    }
    std::vector<ir::Value*> operands = {first};
    ir::AttributeMap attributes;
    ir::Shape shape = first->type().shape;
    for (int i = 1; i < op.arity; ++i) {
      ir::Value* operand = below(3) == 0 ? operands.back() : any_value();
      const bool fits = operand->type().element == type;
      if (!fits || below(3) == 0) {
        attributes.emplace(std::to_string(i), (below(2) == 0 ? neutral(type) : scalar(type)).to_attribute());
        continue;
      }
      operands.push_back(operand);
      auto wider = analysis::broadcast(shape, operand->type().shape);
      if (!wider) {
        return;
      }
      shape = *std::move(wider);
    }
    const bool is_question = op.compute == optable::ComputeType::kOperands;
    const bool is_cast = op.name == "cast";
    const ElementType result = is_question ? ElementType::kBool : is_cast ? any_type() : type;
    try_node(std::string(op.name), std::move(operands), std::move(attributes), {result, std::move(shape), {}});
  }

  // Keeps the node only where the table says what it computes.
  void try_node(std::string op, std::vector<ir::Value*> operands, ir::AttributeMap attributes, ir::TensorType type) {
    if (std::any_of(type.shape.begin(), type.shape.end(),
                    [](const ir::Extent& extent) { return extent.is_unknown(); })) {
      return;
    }
    std::vector<ir::ResultSpec> results = {{graph().unique_name("v"), std::move(type)}};
    ir::Node* node =
        graph().add_node(std::move(op), std::move(operands), std::move(attributes), std::move(results)).value();
    const optable::OpInfo* row = optable::find_op(node->op());
    const auto step = analysis::element_step(*node, *row);
    if (!step || !row->accepts(step->operates_on)) {
      (void)graph().erase_node(node);
      return;
    }
    values_.push_back(node->result());
  }

  std::mt19937_64 engine_;
  std::vector<const optable::OpInfo*> ops_;
  RandomProgram program_;
  std::vector<ir::Value*> values_;
  ElementType element_ = ElementType::kFloat32;
};

}  // namespace

RandomProgram random_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace tessiq::testing_support
