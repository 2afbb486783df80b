// The functions of csrc/optable/intrinsics.md, for one type at a time.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tessiq::analysis {

// Nothing for a function that T does not have, or another number of arguments. Instantiated for bool, the five integers
// of the IR, float and double.
template <typename T>
std::optional<T> call_intrinsic(std::string_view name, std::span<const T> arguments);

// Exact, or correctly rounded by IEEE 754: the same bits from every machine.
bool is_reproducible_intrinsic(std::string_view name);
// Whether a float result may differ from the exact one.
bool intrinsic_rounds(std::string_view name);

}  // namespace tessiq::analysis
