// Reads the expression with the compiler's own parser, after what the parser does not mind: constants without a type.
#include "pytorch/custom/expression_rules.h"

#include <ATen/core/jit_type.h>

#include <regex>
#include <set>

#include "analysis/expression.h"

namespace tessiq::custom {
namespace {

bool is_number(const c10::TypePtr& type) {
  const auto kind = type->kind();
  return kind == c10::TypeKind::FloatType || kind == c10::TypeKind::IntType || kind == c10::TypeKind::NumberType ||
         kind == c10::TypeKind::BoolType || kind == c10::TypeKind::SymIntType;
}

double default_of(const c10::Argument& argument) {
  if (!argument.default_value() || argument.default_value()->isNone()) {
    return 0;
  }
  const c10::IValue& value = *argument.default_value();
  return value.isBool() ? (value.toBool() ? 1 : 0) : value.toScalar().toDouble();
}

// Tensors first, then numbers: what a row of the operation table is.
Result<void> take_arguments(Operation& operation) {
  optable::OpInfo& row = operation.row;
  for (const c10::Argument& argument : operation.schema.arguments()) {
    if (argument.type()->kind() == c10::TypeKind::TensorType && row.parameters.empty()) {
      ++row.arity;
      continue;
    }
    if (!is_number(argument.type())) {
      return invalid_argument("an expression reads tensors and then numbers, and its argument " + argument.name() +
                              " is " + argument.type()->str());
    }
    operation.texts.push_back(std::make_unique<std::string>(argument.name()));
    row.parameters.push_back({*operation.texts.back(), default_of(argument)});
  }
  if (row.arity == 0) {
    return invalid_argument("an expression reads at least one tensor, and the schema has none in front");
  }
  if (operation.schema.returns().size() != 1 || operation.new_results != 1) {
    return invalid_argument("an expression gives one new tensor, and the schema has " +
                            std::to_string(operation.new_results) + ": give it a launch function and a kernel");
  }
  return {};
}

// In half types too the expression computes in scalar_t. A bare 0.5 is a double, and drags everything with it; a bare 1
// is an int, and 1 / 2 would be 0.
Result<void> refuse_bare_constants(const std::string& expression) {
  static const std::regex typed(R"(scalar_t\(\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?f?\s*\))");
  static const std::regex bare(R"((^|[^$\w.])([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?f?)");
  const std::string rest = std::regex_replace(expression, typed, "");
  if (std::smatch found; std::regex_search(rest, found, bare)) {
    const std::string literal = found[2].str() + found[3].str();
    const bool is_integer = literal.find_first_not_of("0123456789") == std::string::npos;
    return invalid_argument("the constant " + literal + " of the expression is " +
                            (is_integer ? "an int" : "a double") + " whatever the element type: write scalar_t(" +
                            literal + ")");
  }
  return {};
}

// $alpha as the argument after the positional ones that it is.
Result<std::string> numbered(const Operation& operation, const std::string& expression) {
  static const std::regex reference(R"(\$(\w+))");
  std::string text;
  auto rest = expression.cbegin();
  for (std::sregex_iterator at(expression.begin(), expression.end(), reference), end; at != end; ++at) {
    const std::string name = (*at)[1].str();
    text.append(rest, (*at)[0].first);
    rest = (*at)[0].second;
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      // Longer than any position is: not asked of stoi, which would throw.
      if (name.size() > 4 || std::stoi(name) >= operation.row.arity) {
        return invalid_argument("the expression reads $" + name + ", and the schema has " +
                                std::to_string(operation.row.arity) + " tensors, the first of which is $0");
      }
      text += "$" + name;
      continue;
    }
    size_t position = 0;
    while (position < operation.row.parameters.size() && operation.row.parameters[position].name != name) {
      ++position;
    }
    if (position == operation.row.parameters.size()) {
      return invalid_argument("the expression reads $" + name + ", which is no number among the schema's arguments");
    }
    text += "$" + std::to_string(static_cast<size_t>(operation.row.arity) + position);
  }
  return text.append(rest, expression.cend());
}

// With ones, in every declared type: a function may be unknown, or be for other types or numbers of arguments.
Result<void> try_expression(const Operation& operation, const analysis::Expression& expression) {
  const size_t count = static_cast<size_t>(operation.row.arity) + operation.row.parameters.size();
  for (int i = 0; i < ir::kElementTypeCount; ++i) {
    const auto element = static_cast<ir::ElementType>(i);
    if (!operation.declares(element)) {
      continue;
    }
    const bool is_half = element == ir::ElementType::kFloat16 || element == ir::ElementType::kBFloat16;
    const ir::ElementType compute = is_half ? ir::ElementType::kFloat32 : element;
    const std::vector<analysis::Scalar> ones(count, ir::is_floating(compute)
                                                        ? analysis::Scalar::of_float(1, compute)
                                                        : analysis::Scalar::of_integer(1, compute));
    if (auto value = analysis::evaluate(expression, compute, ones); !value) {
      return std::move(value).error().with_context("the expression " + operation.definition.expression + " in " +
                                                   std::string(element_type_name(element)));
    }
  }
  return {};
}

}  // namespace

Result<void> apply_expression(Operation& operation) {
  const std::string& expression = operation.definition.expression;
  TESSIQ_RETURN_IF_ERROR(take_arguments(operation));
  TESSIQ_RETURN_IF_ERROR(refuse_bare_constants(expression));
  TESSIQ_ASSIGN_OR_RETURN(const std::string text, numbered(operation, expression));
  auto parsed = analysis::parse_expression(text);
  if (!parsed) {
    return std::move(parsed).error().with_context("the expression");
  }
  TESSIQ_RETURN_IF_ERROR(try_expression(operation, *parsed));
  operation.row.category = optable::Category::kElementwise;
  operation.row.expression = expression;
  return {};
}

}  // namespace tessiq::custom
