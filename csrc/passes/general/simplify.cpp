// Algebraic simplification: readers of a node that equals one of its operands read that operand.
//
// Requires: nothing beyond a verified graph. Pays off before dce, which removes what is no longer read.
// Guarantees: no node is read that an identity below equates with its own operand. A node that the graph returns stays
//   returned (graph.h, replace_reads).
// Legal because: each identity holds for every value: both zeros, both infinities, every NaN, the smallest integer; and
//   operand and result have one type, layout included, so that no conversion, rounding or broadcast is lost. x + 0.0 is
//   not x, since -0.0 + 0.0 is 0.0; x + -0.0 and x - 0.0 are. x * 0 is not 0, since NaN and infinities stay NaN.
// Stops holding when: a row's expression changes. A node with a keyword, such as alpha, is left alone.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/arguments.h"
#include "analysis/effects.h"
#include "analysis/element_value.h"
#include "ir/name.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

using analysis::Scalar;

// What the constant has to be for the operation to give the other argument back.
enum class Neutral { kOne, kAddedZero, kSubtractedZero, kIntegerZero };

struct Identity {
  std::string_view name;
  int kept;
  int constant;
  Neutral neutral;
};
constexpr Identity kIdentities[] = {
    {"mul", 0, 1, Neutral::kOne},
    {"mul", 1, 0, Neutral::kOne},
    {"div", 0, 1, Neutral::kOne},
    {"add", 0, 1, Neutral::kAddedZero},
    {"add", 1, 0, Neutral::kAddedZero},
    {"sub", 0, 1, Neutral::kSubtractedZero},
    {"bitwise_or", 0, 1, Neutral::kIntegerZero},
    {"bitwise_or", 1, 0, Neutral::kIntegerZero},
    {"bitwise_xor", 0, 1, Neutral::kIntegerZero},
    {"bitwise_xor", 1, 0, Neutral::kIntegerZero},
};

constexpr std::string_view kIdempotent[] = {"relu", "abs", "floor", "ceil", "trunc", "round", "sign"};
constexpr std::string_view kInvolutions[] = {"neg", "bitwise_not", "logical_not"};
// f(x, x) is x; `where` takes its two at positions 1 and 2.
constexpr std::string_view kAgreeing[] = {"maximum",    "minimum",     "bitwise_and",
                                          "bitwise_or", "logical_and", "logical_or"};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_neutral(Neutral neutral, const Scalar& value) {
  if (!ir::is_floating(value.type())) {
    return value.as_integer() == (neutral == Neutral::kOne ? 1 : 0);
  }
  const double number = value.as_float();
  switch (neutral) {
    case Neutral::kOne:
      return number == 1;
    case Neutral::kAddedZero:
      return number == 0 && std::signbit(number);
    case Neutral::kSubtractedZero:
      return number == 0 && !std::signbit(number);
    default:
      return false;
  }
}

// A loop over half types computes in float32, where a constant that a half type would round is still itself.
ir::ElementType compute_type(ir::ElementType element) {
  const bool is_half = element == ir::ElementType::kFloat16 || element == ir::ElementType::kBFloat16;
  return is_half ? ir::ElementType::kFloat32 : element;
}

bool has_unknown_extent(const ir::TensorType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(),
                     [](const ir::Extent& extent) { return extent.is_unknown(); });
}

// The argument's number in the type the node computes in. A tensor that holds one number counts where it cannot stretch
// the other argument, which is where the shapes it meets are known.
std::optional<Scalar> constant_at(const analysis::Arguments& arguments, int position, const ir::TensorType& result) {
  const ir::ElementType type = compute_type(result.element);
  if (const ir::Value* tensor = arguments.tensor(position)) {
    const bool may_stretch = has_unknown_extent(result) && tensor->type().rank() > 0;
    const std::optional<Scalar> value = may_stretch ? std::nullopt : analysis::splat_value(*tensor);
    return value ? value->convert(type) : std::nullopt;
  }
  const ir::Attribute* attribute = arguments.constant(position);
  return attribute == nullptr ? std::nullopt : Scalar::of_attribute(*attribute, type);
}

bool has_keywords(const ir::Node& node) {
  return std::any_of(node.attributes().begin(), node.attributes().end(), [](const auto& entry) {
    return !ir::is_number(entry.first) && !entry.first.starts_with(ir::kPassPrefix);
  });
}

ir::Value* neutral_operand(const ir::Node& node, std::string_view name) {
  const analysis::Arguments arguments(node);
  for (const Identity& identity : kIdentities) {
    if (identity.name != name || arguments.count() != 2) {
      continue;
    }
    const std::optional<Scalar> constant = constant_at(arguments, identity.constant, node.result()->type());
    if (constant && is_neutral(identity.neutral, *constant)) {
      return arguments.tensor(identity.kept);
    }
  }
  return nullptr;
}

// The value of f(f(x)): f(x) for an idempotent f, x for an involution.
ir::Value* repeated_operand(const ir::Node& node, std::string_view name) {
  if (node.operands().size() != 1 || node.operand(0)->is_parameter()) {
    return nullptr;
  }
  const ir::Node& inner = *node.operand(0)->producer();
  const optable::OpInfo* op = optable::find_op(inner.op());
  if (op == nullptr || op->name != name || inner.operands().size() != 1 || has_keywords(inner)) {
    return nullptr;
  }
  if (contains(kIdempotent, name)) {
    return node.operand(0);
  }
  // The value between has the type too: logical_not of numbers has forgotten them.
  const bool is_between_same = node.operand(0)->type().element == node.result()->type().element;
  return contains(kInvolutions, name) && is_between_same ? inner.operand(0) : nullptr;
}

// The condition of `where` may stretch the two it chooses between, which only known shapes rule out.
ir::Value* agreeing_operand(const ir::Node& node, std::string_view name) {
  if (name == "where" && has_unknown_extent(node.result()->type())) {
    return nullptr;
  }
  const size_t first = name == "where" ? 1 : 0;
  const size_t count = first + 2;
  if ((name != "where" && !contains(kAgreeing, name)) || node.operands().size() != count) {
    return nullptr;
  }
  return node.operands()[first] == node.operands()[first + 1] ? node.operands()[first] : nullptr;
}

// The operand the node equals for every value, or null.
ir::Value* equal_operand(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr || node.result_count() != 1 || !analysis::is_pure(node) || has_keywords(node)) {
    return nullptr;
  }
  for (const auto find : {neutral_operand, repeated_operand, agreeing_operand}) {
    ir::Value* operand = find(node, op->name);
    if (operand != nullptr && operand->type() == node.result()->type()) {
      return operand;
    }
  }
  return nullptr;
}

class Simplify : public Pass {
 public:
  std::string_view name() const override { return "simplify"; }
  std::string_view description() const override { return "drops operations that give one of their operands back"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions&) override {
    bool changed = false;
    // Forwards, so that a node meets operands that are simplified already.
    for (const auto& node : graph.nodes()) {
      if (ir::Value* operand = equal_operand(*node)) {
        changed |= graph.replace_reads(node->result(), operand);
      }
    }
    return changed;
  }
};

TESSIQ_REGISTER_PASS(Simplify);

}  // namespace
}  // namespace tessiq::passes
