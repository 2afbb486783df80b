#include "codegen/emit/expression.h"

#include <algorithm>
#include <map>
#include <variant>

#include "codegen/emit/loop_sizes.h"
#include "codegen/emit/loop_text.h"
#include "ir/name.h"

namespace tessiq::emit {
namespace {

using ir::ElementType;

bool starts_identifier(char c) { return ir::is_letter(c) || c == '_'; }
bool continues_identifier(char c) { return starts_identifier(c) || ir::is_digit(c); }

size_t end_of_word(std::string_view text, size_t position) {
  while (position < text.size() && continues_identifier(text[position])) {
    ++position;
  }
  return position;
}

bool is_parenthesised_call_or_name(const std::string& text) {
  return text.find_first_of(" -") == std::string::npos || text.front() == '(' || text.back() == ')';
}

}  // namespace

Result<std::string> substitute(std::string_view expression, std::string_view scalar_type,
                               std::span<const std::string> arguments) {
  std::string text;
  for (size_t i = 0; i < expression.size();) {
    const char c = expression[i];
    if (c == '$') {
      const size_t end = end_of_word(expression, i + 1);
      const std::string_view word = expression.substr(i + 1, end - i - 1);
      const size_t index = ir::is_number(word) ? std::stoul(std::string(word)) : arguments.size();
      if (index >= arguments.size()) {
        return internal("expression \"" + std::string(expression) + "\" reads $" + std::string(word) + ", of " +
                        std::to_string(arguments.size()) + " arguments");
      }
      text += arguments[index];
      i = end;
    } else if (continues_identifier(c)) {
      const size_t end = end_of_word(expression, i);
      const std::string_view word = expression.substr(i, end - i);
      text += word == "scalar_t" ? scalar_type : word;
      i = end;
    } else {
      text += c;
      ++i;
    }
  }
  return text;
}

std::vector<std::string_view> identifiers_in(std::string_view text) {
  std::vector<std::string_view> found;
  for (size_t i = 0; i < text.size();) {
    if (!continues_identifier(text[i])) {
      ++i;
      continue;
    }
    const size_t end = end_of_word(text, i);
    if (starts_identifier(text[i])) {
      found.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return found;
}

std::vector<int> sizes_read_by_steps(const LoopKernel& kernel) {
  const std::vector<ir::SizeExpr> arguments = kernel.size_arguments();
  std::vector<int> read;
  auto add = [&](const ir::SizeExpr& size) {
    const int index = slot_of(size, arguments).argument;
    if (index >= 0 && std::find(read.begin(), read.end(), index) == read.end()) {
      read.push_back(index);
    }
  };
  for (const LoopStep& step : kernel.steps) {
    for (const LoopArgument& argument : step.arguments) {
      if (const auto* symbol = std::get_if<LoopSymbol>(&argument)) {
        add(symbol->value);
      } else if (const auto* position = std::get_if<LoopPosition>(&argument)) {
        add(position->shift);
      } else if (const auto* inside = std::get_if<LoopInside>(&argument)) {
        for (const LoopWindow& window : inside->windows) {
          add(window.begin);
          add(window.end);
        }
      }
    }
  }
  std::sort(read.begin(), read.end());
  return read;
}

namespace {

// A compiler that may take signed overflow as impossible folds x + 1 > x to true; PyTorch, which computes the two in
// different kernels, does not. Arithmetic on smaller integers is int to C++ and cannot overflow.
bool may_overflow(const LoopStep& step) {
  const bool wide = step.compute == ElementType::kInt32 || step.compute == ElementType::kInt64;
  return wide && step.element == step.compute && step.expression != "$0";
}

bool is_read_later(const LoopKernel& kernel, const std::string& value) {
  return std::any_of(kernel.steps.begin(), kernel.steps.end(), [&](const LoopStep& step) {
    return std::any_of(step.arguments.begin(), step.arguments.end(), [&](const LoopArgument& argument) {
      const auto* read = std::get_if<LoopRead>(&argument);
      return read != nullptr && read->value == value;
    });
  });
}

// The expression has the type it computes in, or bool where it asks a question. Arithmetic on small integers is int
// to C++ and has to wrap before it is widened.
std::string result_text(const LoopStep& step, const std::string& expression) {
  const ElementType computed = value_type(step.compute);
  const ElementType element = value_type(step.element);
  if (step.rounds && step.element != element) {
    return load_conversion(store_conversion(expression, step.element), step.element);
  }
  if (computed == element) {
    return computed == ElementType::kBool && !is_parenthesised_call_or_name(expression) ? "bool(" + expression + ")"
                                                                                        : expression;
  }
  if (element == ElementType::kBool) {
    return "bool(" + expression + ")";
  }
  return value_conversion(std::string(value_type_name(computed)) + "(" + expression + ")", computed, element);
}

}  // namespace

StepLines::StepLines(const LoopKernel& kernel, Identifiers& identifiers)
    : kernel_(kernel), identifiers_(identifiers), sizes_(kernel.size_arguments()) {
  for (const LoopTensor& input : kernel.inputs) {
    types_[input.name()] = value_type(input.element);
  }
}

Result<std::string> StepLines::line(const LoopStep& step) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    const bool as_bool = i < 32 && ((step.bool_arguments >> i) & 1U) != 0;
    TESSIQ_ASSIGN_OR_RETURN(std::string text, argument(step.arguments[i], as_bool ? ElementType::kBool : step.compute));
    arguments.push_back(std::move(text));
  }
  TESSIQ_ASSIGN_OR_RETURN(std::string expression,
                          substitute(step.expression, value_type_name(step.compute), arguments));
  const std::string type(value_type_name(step.element));
  define(step);
  if (may_overflow(step) && is_read_later(kernel_, step.value)) {
    return "const " + type + " " + identifiers_.of(step.value) + " = wrapped(" + result_text(step, expression) + ");";
  }
  return "const " + type + " " + identifiers_.of(step.value) + " = " + result_text(step, expression) + ";";
}

void StepLines::define(const LoopStep& step) { types_[step.value] = value_type(step.element); }

Result<std::string> StepLines::argument(const LoopArgument& argument, ElementType type) const {
  if (const auto* constant = std::get_if<LoopConstant>(&argument)) {
    return constant_text(*constant, type);
  }
  if (const auto* symbol = std::get_if<LoopSymbol>(&argument)) {
    return value_conversion(slot_of(symbol->value, sizes_).text(), ElementType::kInt64, type);
  }
  auto position_name = [](int position) { return "p" + std::to_string(position); };
  if (const auto* inside = std::get_if<LoopInside>(&argument)) {
    const std::string text = "(" + inside_text(kernel_, inside->windows, position_name) + ")";
    return value_conversion(text, ElementType::kBool, type);
  }
  if (const auto* position = std::get_if<LoopPosition>(&argument)) {
    const SizeSlot shift = slot_of(position->shift, sizes_);
    const std::string name = position_name(position->position);
    return value_conversion(shift.is(0) ? name : "(" + name + " - " + shift.text() + ")", ElementType::kInt64, type);
  }
  const std::string& value = std::get<LoopRead>(argument).value;
  const auto found = types_.find(value);
  if (found == types_.end()) {
    return internal("loop " + kernel_.name + " reads " + value + ", which is no input and no earlier step");
  }
  return value_conversion(identifiers_.of(value), found->second, type);
}

Result<std::vector<std::string>> step_lines(const LoopKernel& kernel, Identifiers& identifiers) {
  StepLines steps(kernel, identifiers);
  std::vector<std::string> lines;
  for (const LoopStep& step : kernel.steps) {
    TESSIQ_ASSIGN_OR_RETURN(std::string line, steps.line(step));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tessiq::emit
