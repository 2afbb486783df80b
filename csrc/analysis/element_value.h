// What a step computes for one element, as a number: constant folding, and the interpreter of the tests.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/element_step.h"
#include "analysis/scalar.h"

namespace tessiq::analysis {

using SymbolValues = std::function<std::optional<int64_t>(std::string_view)>;

// `operands` are the elements read, one an operand of the node. kUnsupported where a float is converted to an integer
// that int64 does not hold, which no two machines agree on; kInvalidArgument where a symbol has no value.
Result<Scalar> evaluate_element(const ElementStep& step, std::span<const Scalar> operands,
                                const SymbolValues& value_of);

// The number every element of the value has, where its producer reads no tensor: full, zeros, scalar_tensor.
std::optional<Scalar> splat_value(const ir::Value& value);

}  // namespace tessiq::analysis
