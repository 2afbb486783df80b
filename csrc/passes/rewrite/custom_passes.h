// The passes that custom operations bring: one that finds a computation and calls the operation instead, and one that
// puts the operation in the place of a PyTorch operator. Both are named after the operation: "rms_norm" and
// "replace-softmax".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace tessiq::passes {

// An operation as the graph calls it, with its arguments in order. It has a row.
struct CustomCall {
  struct Argument {
    std::string name;
    bool is_tensor = true;
  };
  std::string name;  // "rms_norm": of the pass
  std::string op;    // "tessiq.rms_norm.default"
  std::vector<Argument> arguments;
};

// kInvalidArgument: the pattern is not one (pattern.h), or a parameter or a symbol of it is no argument of the
// operation, or an argument is bound by neither.
Result<void> check_rewrite(const CustomCall& call, std::string_view pattern);

// Both register a pass; kInvalidArgument where its name is taken. A rewrite is refused as check_rewrite refuses it.
Result<void> register_rewrite(const CustomCall& call, std::string_view pattern);
// `replaced` is as in a graph: "aten._softmax.default".
Result<void> register_replacement(const CustomCall& call, const std::string& replaced);
std::string replacement_pass_name(std::string_view operation);

// The attribute in which a rewrite names what it absorbed: "node op", separated by commas.
inline constexpr std::string_view kAbsorbedAttribute = "tessiq.absorbed";

}  // namespace tessiq::passes
