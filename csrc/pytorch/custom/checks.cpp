// In the order a reader of the definition meets them: schema, functions, kind, types, replacement, pattern.
#include "pytorch/custom/checks.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <algorithm>
#include <utility>

#include "pytorch/custom/expression_rules.h"
#include "pytorch/executor/registers.h"

namespace tessiq::custom {
namespace {

std::optional<ir::ElementType> element_of(at::ScalarType type) {
  for (int i = 0; i < ir::kElementTypeCount; ++i) {
    if (const auto element = static_cast<ir::ElementType>(i); pytorch::scalar_type_of(element) == type) {
      return element;
    }
  }
  return std::nullopt;
}

bool is_tensor(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return (optional ? optional->getElementType() : type)->kind() == c10::TypeKind::TensorType;
}

// The first line of what PyTorch says: the rest is a stack.
std::string first_line(const std::string& text) {
  const size_t start = std::min(text.find_first_not_of(" \n"), text.size());
  return text.substr(start, text.find('\n', start) - start);
}

Result<c10::FunctionSchema> parse_schema(const std::string& name, const std::string& text) {
  try {
    c10::FunctionSchema schema = torch::jit::parseSchema(text, /*allow_typevars=*/false);
    if (schema.name() != name || !schema.overload_name().empty()) {
      return invalid_argument("its schema is that of \"" + c10::toString(schema.operator_name()) +
                              "\": it is named as its folder, without namespace or overload");
    }
    return schema.cloneWithName("tessiq::" + name, "");
  } catch (const std::exception& error) {
    return invalid_argument("its schema \"" + text + "\" does not parse: " + first_line(error.what()));
  }
}

// The argument that a result in this alias set is.
int written_argument(const c10::FunctionSchema& schema, const c10::AliasInfo& alias) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* other = schema.arguments()[i].alias_info();
    if (other != nullptr && other->beforeSets() == alias.beforeSets()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// New results are tensors; the others are an argument that the call writes.
Result<void> check_results(Operation& operation) {
  for (const c10::Argument& argument : operation.schema.arguments()) {
    const c10::AliasInfo* alias = argument.alias_info();
    operation.writes = operation.writes || (alias != nullptr && alias->isWrite());
  }
  for (const c10::Argument& result : operation.schema.returns()) {
    if (result.type()->kind() != c10::TypeKind::TensorType) {
      return invalid_argument("it returns " + result.type()->str() + ", and results are tensors");
    }
    const c10::AliasInfo* alias = result.alias_info();
    if (alias != nullptr && !alias->isWrite()) {
      return invalid_argument(
          "a result of its schema is a view of an argument: results are new tensors, or an "
          "argument written in place, Tensor(a!)");
    }
    operation.result_arguments.push_back(alias == nullptr ? -1 : written_argument(operation.schema, *alias));
    operation.new_results += alias == nullptr ? 1 : 0;
  }
  if (operation.writes && operation.new_results > 0) {
    return invalid_argument("it writes an argument and returns new tensors as well: give it one or the other");
  }
  return {};
}

c10::FunctionSchema unnamed(const c10::FunctionSchema& schema, std::vector<c10::Argument> arguments,
                            std::vector<c10::Argument> returns) {
  return c10::FunctionSchema(schema.name(), "", std::move(arguments), std::move(returns));
}

// Without default values, which nothing without one may follow.
std::vector<c10::Argument> plain_arguments(const c10::FunctionSchema& schema) {
  std::vector<c10::Argument> arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    arguments.emplace_back(argument.name(), argument.type());
  }
  return arguments;
}

c10::Argument tensor_argument(const std::string& name) { return c10::Argument(name, c10::TensorType::get()); }

Result<void> check_function(const char* what, const c10::FunctionSchema& found, const c10::FunctionSchema& wanted) {
  const std::optional<std::string> difference = c10::findSchemaDifferences(found, wanted);
  if (!difference) {
    return {};
  }
  return invalid_argument(std::string("the parameters of its ") + what + " do not match its schema: " + *difference +
                          "; wanted " + c10::toString(wanted));
}

Result<void> check_reference(const Operation& operation) {
  if (!operation.definition.reference) {
    return invalid_argument("it has no reference, which runs wherever its kernel cannot");
  }
  return check_function("reference", operation.definition.reference.schema(), operation.schema);
}

Result<void> check_launch(const Operation& operation) {
  if (!operation.definition.launch) {
    return {};
  }
  std::vector<c10::Argument> arguments = plain_arguments(operation.schema);
  for (size_t i = 0; i < operation.new_results; ++i) {
    arguments.push_back(tensor_argument("result" + std::to_string(i)));
  }
  for (const c10::Argument& argument : arguments) {
    if (argument.type()->kind() == c10::TypeKind::ListType && is_tensor(argument.type()->containedType(0))) {
      return invalid_argument("its argument " + argument.name() + " is a list of tensors, and a kernel takes its " +
                              "tensors one by one");
    }
  }
  return check_function("launch function", operation.definition.launch.schema(),
                        unnamed(operation.schema, std::move(arguments), {}));
}

Result<void> check_backward(const Operation& operation) {
  if (!operation.definition.backward) {
    return {};
  }
  if (operation.writes) {
    return invalid_argument(
        "it writes an argument in place and has a backward: give the backward to an operation "
        "that returns a new tensor");
  }
  std::vector<c10::Argument> arguments;
  std::vector<c10::Argument> returns;
  for (size_t i = 0; i < operation.new_results; ++i) {
    arguments.push_back(tensor_argument("gradient" + std::to_string(i)));
  }
  for (const c10::Argument& argument : plain_arguments(operation.schema)) {
    arguments.push_back(argument);
    if (is_tensor(argument.type())) {
      returns.push_back(tensor_argument(""));
    }
  }
  for (size_t i = 0; i < operation.new_results; ++i) {
    arguments.push_back(tensor_argument("result" + std::to_string(i)));
  }
  return check_function("backward", operation.definition.backward.schema(),
                        unnamed(operation.schema, std::move(arguments), std::move(returns)));
}

Result<void> check_kind(Operation& operation) {
  const Definition& definition = operation.definition;
  const int kinds =
      int{!definition.expression.empty()} + int{static_cast<bool>(definition.launch)} + int{definition.precompiled};
  if (kinds != 1) {
    return invalid_argument("it declares " + std::string(kinds == 0 ? "no kind" : "more than one kind") +
                            " of kernel: give it exactly one of expression, launch and precompiled");
  }
  const std::string file = operation.name + ".cu";
  if (definition.launch) {
    operation.kind = Kind::kKernel;
    if (!operation.kernel) {
      return invalid_argument("it has a launch function, and there is no kernel file " + file + " beside it");
    }
    return {};
  }
  operation.kind = definition.precompiled ? Kind::kPrecompiled : Kind::kExpression;
  if (operation.kernel && operation.kind == Kind::kExpression) {
    return invalid_argument("it is an expression, and there is a kernel file " + file + " that nothing launches");
  }
  if (operation.kind == Kind::kPrecompiled) {
    return invalid_argument("it declares itself precompiled, which this build of tessiq does not have");
  }
  return {};
}

Result<void> check_types(Operation& operation) {
  const Definition& definition = operation.definition;
  if (definition.element_types.empty()) {
    return invalid_argument("it declares no element types for what computes it to handle");
  }
  for (const at::ScalarType type : definition.element_types) {
    const auto element = element_of(type);
    if (!element) {
      return invalid_argument(std::string("the compiler has no element type ") + c10::toString(type));
    }
    operation.row.element_types |= 1U << static_cast<uint32_t>(*element);
  }
  for (const ArgumentType& own : definition.argument_types) {
    const auto position = operation.schema.argumentIndexWithName(own.argument);
    const auto element = element_of(own.type);
    if (!position || !is_tensor(operation.schema.arguments()[static_cast<size_t>(*position)].type()) || !element) {
      return invalid_argument("it gives an element type to " + own.argument + ", which is no tensor of its schema");
    }
    operation.row.argument_types.push_back({*position, *element});
  }
  return {};
}

// The row by which the compiler knows the operation. One that writes an argument is left to PyTorch.
Result<void> make_row(Operation& operation) {
  operation.texts.push_back(std::make_unique<std::string>("tessiq." + operation.name));
  operation.row.name = *operation.texts.back();
  operation.texts.push_back(std::make_unique<std::string>(operation.graph_name()));
  operation.row.aten = {*operation.texts.back()};
  operation.row.category = optable::Category::kCustom;
  operation.row.effects = operation.writes ? optable::Effects::kWrites : optable::Effects::kPure;
  operation.row.kernel = true;
  if (operation.kind == Kind::kExpression) {
    return apply_expression(operation);
  }
  return {};
}

Result<void> check_replacement(const Operation& operation) {
  const std::string& replaced = operation.definition.replaces;
  if (replaced.empty()) {
    return {};
  }
  const size_t dot = replaced.find('.');
  const std::string name = replaced.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : replaced.substr(dot + 1);
  const auto found = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!found) {
    return invalid_argument("it replaces " + replaced + ", and PyTorch has no such operation");
  }
  if (found->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) {
    return invalid_argument("it replaces " + replaced +
                            ", a composite operation: that is broken into others as it is " +
                            "called, before any kernel or graph sees it. Replace one of the operations it breaks into");
  }
  const auto& wanted = found->schema().arguments();
  const auto& given = operation.schema.arguments();
  const auto same = [](const c10::Argument& a, const c10::Argument& b) {
    return a.name() == b.name() && *a.type() == *b.type();
  };
  if (!std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(), same) ||
      found->schema().returns().size() != operation.schema.returns().size()) {
    return invalid_argument("its schema differs from that of " + replaced +
                            ", which it replaces: " + c10::toString(found->schema()));
  }
  if (found->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) {
    return invalid_argument("it replaces " + replaced + ", which tessiq or another operation already has a kernel for");
  }
  return {};
}

Result<void> check_pattern(const Operation& operation) {
  if (!operation.pattern) {
    return {};
  }
  if (operation.new_results != 1) {
    return invalid_argument("it has a pattern, and a pattern stands for exactly one new result");
  }
  if (auto checked = passes::check_rewrite(operation.call(), *operation.pattern); !checked) {
    return std::move(checked).error().with_context("pattern.tir");
  }
  return {};
}

Result<void> check_name(const std::string& name) {
  if (c10::Dispatcher::singleton().findSchema({"tessiq::" + name, ""})) {
    return invalid_argument("there is already an operation tessiq::" + name);
  }
  return {};
}

Result<std::unique_ptr<Operation>> check_all(const RecordedDefinition& recorded, const RecordedFiles* files) {
  const std::string name = recorded.name;
  TESSIQ_RETURN_IF_ERROR(check_name(name));
  Definition definition = recorded.define();
  TESSIQ_ASSIGN_OR_RETURN(c10::FunctionSchema schema, parse_schema(name, definition.schema));
  auto operation = std::make_unique<Operation>(name, std::move(definition), std::move(schema));
  if (files != nullptr && files->kernel != nullptr) {
    operation->kernel = files->kernel;
  }
  if (files != nullptr && files->pattern != nullptr) {
    operation->pattern = files->pattern;
  }
  for (const auto step : {&check_results, &check_kind, &check_types, &make_row}) {
    TESSIQ_RETURN_IF_ERROR(step(*operation));
  }
  for (const auto step : {&check_reference, &check_launch, &check_backward, &check_replacement, &check_pattern}) {
    TESSIQ_RETURN_IF_ERROR(step(*operation));
  }
  return operation;
}

}  // namespace

Result<std::unique_ptr<Operation>> check(const RecordedDefinition& recorded, const RecordedFiles* files) {
  const std::string context = std::string("custom operation ") + recorded.name;
  try {
    auto operation = check_all(recorded, files);
    if (!operation) {
      return std::move(operation).error().with_context(context);
    }
    return operation;
  } catch (const std::exception& error) {
    return invalid_argument(context + ": its definition raised: " + first_line(error.what()));
  }
}

}  // namespace tessiq::custom
