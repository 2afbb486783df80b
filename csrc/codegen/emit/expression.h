// Expressions of the operation table put into a loop: arguments for $0, $1, ..., a type for scalar_t.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit/loop_kernel.h"
#include "codegen/emit/spelling.h"

namespace tessiq::emit {

// kInternal where the expression names an argument that is not there.
Result<std::string> substitute(std::string_view expression, std::string_view scalar_type,
                               std::span<const std::string> arguments);

// Every identifier of a text, in order of appearance, repeated where it is; numbers and what follows "$" are none.
std::vector<std::string_view> identifiers_in(std::string_view text);

// Size arguments that steps read as numbers, by index in size_arguments(), ascending.
std::vector<int> sizes_read_by_steps(const LoopKernel& kernel);

// Writes the steps of a kernel one by one; a step reads inputs and what was defined before it.
class StepLines {
 public:
  StepLines(const LoopKernel& kernel, Identifiers& identifiers);

  // "const float v_add = v_a + v_b;"
  Result<std::string> line(const LoopStep& step);
  // For a step whose value is defined by other means, such as a combination of elements.
  void define(const LoopStep& step);
  // A value, a constant or a size as a number of that type.
  Result<std::string> argument(const LoopArgument& argument, ir::ElementType type) const;

 private:
  const LoopKernel& kernel_;
  Identifiers& identifiers_;
  std::vector<ir::SizeExpr> sizes_;
  std::map<std::string, ir::ElementType> types_;
};

// Every step of a loop, in order. Inputs are read by the identifier of their value, sizes as size0, size1, ...
Result<std::vector<std::string>> step_lines(const LoopKernel& kernel, Identifiers& identifiers);

}  // namespace tessiq::emit
