// Resolves a node against its row: which expression, over which arguments, in which type.
#include "analysis/element_step.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "analysis/arguments.h"
#include "analysis/index_map.h"
#include "ir/name.h"

namespace tessiq::analysis {
namespace {

using ir::Attribute;
using ir::ElementType;
using optable::Condition;
using optable::OpInfo;

std::string key_of(int position) { return std::to_string(position); }

Error not_understood(const ir::Node& node, std::string_view key, const std::string& what) {
  const bool is_position = std::isdigit(static_cast<unsigned char>(key.front())) != 0;
  return unsupported(node.op() + ": " + (is_position ? "argument " : "keyword ") + std::string(key) + " " + what);
}

// A keyword, or the argument at the parameter's place after the positional ones.
int parameter_position(const OpInfo& op, std::string_view key) {
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (op.parameters[i].name == key) {
      return op.arity + static_cast<int>(i);
    }
  }
  return -1;
}

class Resolver {
 public:
  Resolver(const ir::Node& node, const OpInfo& op) : node_(node), op_(op), arguments_(node) {}

  Result<ElementStep> resolve() {
    TESSIQ_RETURN_IF_ERROR(check_every_argument());
    TESSIQ_ASSIGN_OR_RETURN(const std::string_view chosen, choose_expression());
    TESSIQ_ASSIGN_OR_RETURN(step_.expression, number_parameters(chosen));
    TESSIQ_RETURN_IF_ERROR(resolve_arguments());
    step_.element = node_.result()->type().element;
    step_.operates_on = op_.compute == optable::ComputeType::kResult ? step_.element : promoted_type(node_);
    const bool is_half = step_.operates_on == ElementType::kFloat16 || step_.operates_on == ElementType::kBFloat16;
    step_.compute = is_half ? ElementType::kFloat32 : step_.operates_on;
    step_.bool_arguments = op_.bool_arguments;
    step_.rounds = op_.rounds;
    return std::move(step_);
  }

 private:
  bool names_key(std::string_view key) const {
    if (std::find(op_.ignored_keywords.begin(), op_.ignored_keywords.end(), key) != op_.ignored_keywords.end()) {
      return true;
    }
    return parameter_position(op_, key) >= 0 ||
           std::any_of(op_.cases.begin(), op_.cases.end(), [&](const optable::ExpressionCase& one) {
             return std::any_of(one.when.begin(), one.when.end(),
                                [&](const Condition& condition) { return condition.key == key; });
           });
  }

  // Nothing the call said may be dropped: it would compute another function in silence.
  Result<void> check_every_argument() const {
    const int places = op_.arity + static_cast<int>(op_.parameters.size());
    for (const auto& [key, attribute] : node_.attributes()) {
      if (key.starts_with(ir::kPassPrefix)) {
        continue;
      }
      const bool is_place = std::isdigit(static_cast<unsigned char>(key.front())) != 0 && std::stoi(key) < places;
      if (!is_place && !names_key(key)) {
        return not_understood(node_, key, "= " + ir::attribute_to_string(attribute) + " is not understood");
      }
    }
    for (int position = 0; position < arguments_.count(); ++position) {
      const bool is_tensor = arguments_.tensor(position) != nullptr || arguments_.tensors(position) != nullptr;
      if (is_tensor && position >= op_.arity) {
        return not_understood(node_, key_of(position), "is a tensor, and the operation takes " + key_of(op_.arity));
      }
    }
    return {};
  }

  // Null where the argument is absent: not given, None or False.
  const Attribute* constant(std::string_view key) const {
    const Attribute* attribute = node_.attribute(key);
    if (const int position = parameter_position(op_, key); attribute == nullptr && position >= 0) {
      attribute = node_.attribute(key_of(position));
    }
    const bool absent = attribute == nullptr || std::holds_alternative<ir::None>(*attribute) ||
                        (std::holds_alternative<bool>(*attribute) && !std::get<bool>(*attribute));
    return absent ? nullptr : attribute;
  }

  bool holds(const Condition& condition) const {
    const Attribute* attribute = constant(condition.key);
    const bool is_position = std::isdigit(static_cast<unsigned char>(condition.key.front())) != 0;
    const bool is_tensor = is_position && arguments_.tensor(std::stoi(std::string(condition.key))) != nullptr;
    switch (condition.test) {
      case Condition::Test::kAbsent:
        return attribute == nullptr && !is_tensor;
      case Condition::Test::kPresent:
        return attribute != nullptr || is_tensor;
      case Condition::Test::kNumber: {
        const auto* integer = attribute == nullptr ? nullptr : std::get_if<int64_t>(attribute);
        const auto* real = attribute == nullptr ? nullptr : std::get_if<double>(attribute);
        return (integer != nullptr && static_cast<double>(*integer) == condition.number) ||
               (real != nullptr && *real == condition.number);
      }
      case Condition::Test::kText: {
        const auto* text = attribute == nullptr ? nullptr : std::get_if<std::string>(attribute);
        return text != nullptr && *text == condition.text;
      }
    }
    return false;
  }

  Result<std::string_view> choose_expression() const {
    if (op_.cases.empty()) {
      return op_.expression;
    }
    for (const optable::ExpressionCase& one : op_.cases) {
      if (std::all_of(one.when.begin(), one.when.end(), [&](const Condition& condition) { return holds(condition); })) {
        return one.expression;
      }
    }
    const std::string_view key = op_.cases.front().when.front().key;
    const Attribute* attribute = node_.attribute(key);
    return not_understood(node_, key,
                          "= " + ir::attribute_to_string(attribute == nullptr ? Attribute(ir::None{}) : *attribute) +
                              " is not a case of this operation");
  }

  // $alpha becomes $2: parameters are arguments after the positional ones. Notes what is read.
  Result<std::string> number_parameters(std::string_view expression) {
    std::string text;
    for (size_t i = 0; i < expression.size();) {
      text += expression[i];
      if (expression[i++] != '$') {
        continue;
      }
      size_t end = i;
      while (end < expression.size() &&
             (std::isalnum(static_cast<unsigned char>(expression[end])) != 0 || expression[end] == '_')) {
        ++end;
      }
      const std::string name(expression.substr(i, end - i));
      const bool is_number = !name.empty() && std::all_of(name.begin(), name.end(), ir::is_digit);
      const int position = is_number ? std::stoi(name) : parameter_position(op_, name);
      if (position < 0) {
        return internal(std::string(op_.name) + ": the expression reads $" + name + ", which is no parameter");
      }
      reads_.insert(position);
      text += key_of(position);
      i = end;
    }
    return text;
  }

  Result<void> resolve_arguments() {
    const int places = op_.arity + static_cast<int>(op_.parameters.size());
    for (int position = 0; position < places; ++position) {
      StepArgument argument = int64_t{0};
      if (reads_.count(position) != 0) {
        TESSIQ_ASSIGN_OR_RETURN(argument, resolve_argument(position));
      }
      step_.arguments.push_back(std::move(argument));
    }
    // Trailing parameters that nothing reads would only be noise.
    while (!step_.arguments.empty() && reads_.count(static_cast<int>(step_.arguments.size()) - 1) == 0 &&
           static_cast<int>(step_.arguments.size()) > op_.arity) {
      step_.arguments.pop_back();
    }
    return {};
  }

  Result<StepArgument> resolve_argument(int position) const {
    if (const ir::Value* value = arguments_.tensor(position)) {
      const auto& operands = node_.operands();
      return StepArgument(
          StepOperand{static_cast<int>(std::find(operands.begin(), operands.end(), value) - operands.begin())});
    }
    const Attribute* attribute = node_.attribute(key_of(position));
    std::string key = key_of(position);
    if (position >= op_.arity) {
      const optable::ScalarParameter& parameter = op_.parameters[static_cast<size_t>(position - op_.arity)];
      attribute = attribute == nullptr ? node_.attribute(parameter.name) : attribute;
      key = parameter.name;
      if (attribute == nullptr) {
        return default_of(parameter);
      }
    }
    if (attribute == nullptr) {
      return not_understood(node_, key, "is missing");
    }
    return step_number(node_, key, *attribute);
  }

  static StepArgument default_of(const optable::ScalarParameter& parameter) {
    const auto whole = static_cast<int64_t>(parameter.default_value);
    if (static_cast<double>(whole) == parameter.default_value) {
      return whole;
    }
    return parameter.default_value;
  }

  const ir::Node& node_;
  const OpInfo& op_;
  Arguments arguments_;
  std::set<int> reads_;
  ElementStep step_;
};

// PyTorch orders kinds of number: bool, integer, real; within a kind, a tensor with axes decides.
int kind_of(ElementType type) { return type == ElementType::kBool ? 0 : (ir::is_floating(type) ? 2 : 1); }

ElementType promote(ElementType a, ElementType b) {
  if (a == b || kind_of(a) != kind_of(b)) {
    return kind_of(a) >= kind_of(b) ? a : b;
  }
  const bool mixed_halves = ir::is_floating(a) && ir::element_size(a) == 2 && ir::element_size(b) == 2;
  if (mixed_halves) {
    return ElementType::kFloat32;  // float16 with bfloat16
  }
  const bool has_byte = a == ElementType::kUInt8 || b == ElementType::kUInt8;
  const bool has_signed_byte = a == ElementType::kInt8 || b == ElementType::kInt8;
  if (has_byte && has_signed_byte) {
    return ElementType::kInt16;
  }
  return ir::element_size(a) >= ir::element_size(b) ? a : b;
}

void include(std::optional<ElementType>& so_far, ElementType type) { so_far = so_far ? promote(*so_far, type) : type; }

// `lower` decides only where its kind is higher.
std::optional<ElementType> combine(std::optional<ElementType> higher, std::optional<ElementType> lower) {
  if (!higher || !lower) {
    return higher ? higher : lower;
  }
  return kind_of(*lower) > kind_of(*higher) ? lower : higher;
}

}  // namespace

ElementType promoted_type(const ir::Node& node) {
  std::optional<ElementType> tensors;
  std::optional<ElementType> scalars;
  std::optional<ElementType> numbers;
  for (const ir::Value* operand : node.operands()) {
    include(operand->type().rank() > 0 ? tensors : scalars, operand->type().element);
  }
  for (const auto& [key, attribute] : node.attributes()) {
    if (!std::all_of(key.begin(), key.end(), ir::is_digit)) {
      continue;
    }
    if (std::holds_alternative<bool>(attribute)) {
      include(numbers, ElementType::kBool);
    } else if (std::holds_alternative<int64_t>(attribute) || std::holds_alternative<ir::Extent>(attribute)) {
      include(numbers, ElementType::kInt64);
    } else if (std::holds_alternative<double>(attribute)) {
      include(numbers, ElementType::kFloat32);  // PyTorch's default type for real numbers
    }
  }
  return combine(combine(tensors, scalars), numbers).value_or(ElementType::kFloat32);
}

Result<StepArgument> step_number(const ir::Node& node, std::string_view key, const Attribute& attribute) {
  if (const auto* flag = std::get_if<bool>(&attribute)) {
    return StepArgument(*flag);
  }
  if (const auto* integer = std::get_if<int64_t>(&attribute)) {
    return StepArgument(*integer);
  }
  if (const auto* real = std::get_if<double>(&attribute)) {
    return StepArgument(*real);
  }
  if (const auto* extent = std::get_if<ir::Extent>(&attribute); extent != nullptr && extent->is_symbol()) {
    return StepArgument(ir::SizeExpr::of_symbol(extent->name()));
  }
  return not_understood(node, key, "= " + ir::attribute_to_string(attribute) + " is not a number");
}

Result<ElementStep> element_step(const ir::Node& node, const OpInfo& op) {
  return op.index_map == optable::IndexMap::kNone ? Resolver(node, op).resolve() : index_map_step(node, op);
}

}  // namespace tessiq::analysis
