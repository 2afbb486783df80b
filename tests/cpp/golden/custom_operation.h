// Custom operations for golden files, without PyTorch: a row and a rewrite pass from one line of text.
#pragma once

#include <string_view>

#include "support/result.h"

namespace tessiq::golden {

// "rms_norm(%x, %weight, epsilon) f32,f16 csrc/custom_ops/rms_norm/pattern.tir": tensors are marked with %, then the
// element types, then the pattern's file. The same line may come again; another one for the same name is refused.
Result<void> register_operation(std::string_view line);

}  // namespace tessiq::golden
