// How C++ spells element types, constants, conversions and names: what the CUDA and the host emitter have in common.
//
// Decides the two types an element has: the one it is stored as (a half is 16 raw bits, a bool a byte) and the one it
// is computed with (a half is a float). The names used here (u16, from_f16, infinity) are defined by each target's
// prelude.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "codegen/emit/loop_kernel.h"
#include "ir/element_type.h"

namespace tessiq::emit {

// float for half types, otherwise the type itself.
ir::ElementType value_type(ir::ElementType element);
std::string_view value_type_name(ir::ElementType element);    // "float", "i32", "bool"
std::string_view storage_type_name(ir::ElementType element);  // "float", "u16", "u8"

// `text` is an expression of the first type, and so is the result of the second.
std::string load_conversion(const std::string& text, ir::ElementType element);   // stored -> computed with
std::string store_conversion(const std::string& text, ir::ElementType element);  // computed with -> stored
// Between the types two elements are computed with. A float goes to 8 and 16 bits by way of 64, as PyTorch's does.
std::string value_conversion(const std::string& text, ir::ElementType from, ir::ElementType to);

// "float(2.5)", "i64(-3)", "true": the type is always written, so that no literal drags an expression to double.
std::string constant_text(const LoopConstant& constant, ir::ElementType type);

// IR names as C++ identifiers, unique among those given out; prefixed, so that none hides a function or a keyword.
class Identifiers {
 public:
  const std::string& of(const std::string& value);

 private:
  std::map<std::string, std::string> given_;
  std::set<std::string> taken_;
};

}  // namespace tessiq::emit
