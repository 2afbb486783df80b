// The arguments of the imported call, put back in order from a node's operands and attributes.
//
// A position that holds a constant is an attribute keyed by it; the operands fill the other positions from the left. A
// list of tensors, described by `list.<position>`, fills one position with several operands.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::analysis {

using TensorList = std::vector<ir::Value*>;  // null where the list holds None
using Argument = std::variant<ir::Value*, TensorList, const ir::Attribute*>;

class Arguments {
 public:
  explicit Arguments(const ir::Node& node);

  int count() const { return static_cast<int>(positional_.size()); }
  // Null where the position is absent or holds something else.
  ir::Value* tensor(int position) const;
  const TensorList* tensors(int position) const;
  // The attribute at the position, else the one under the keyword, else null.
  const ir::Attribute* constant(int position, std::string_view keyword = {}) const;

  // Where both are null the argument was not given; None counts as not given.
  std::optional<int64_t> integer(int position, std::string_view keyword = {}) const;
  std::optional<bool> boolean(int position, std::string_view keyword = {}) const;
  // A list of sizes; a single number is a list of one, as PyTorch has it.
  std::optional<ir::SizeList> sizes(int position, std::string_view keyword = {}) const;
  bool given(int position, std::string_view keyword = {}) const;

 private:
  const ir::Node& node_;
  std::vector<Argument> positional_;
};

// An axis counted from the front; the last is -1. `rank` counts the positions that exist; kInvalidArgument for others.
Result<size_t> axis_of(const ir::Node& node, int64_t axis, size_t rank);

}  // namespace tessiq::analysis
