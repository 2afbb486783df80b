// Interleaves operands and attributes by position.
#include "analysis/arguments.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tessiq::analysis {
namespace {

// How many members of the list are tensors.
size_t tensor_count(const ir::SizeList& members) {
  return static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [](const ir::Extent& member) { return member.is(1); }));
}

}  // namespace

Arguments::Arguments(const ir::Node& node) : node_(node) {
  size_t next = 0;
  for (int position = 0;; ++position) {
    const std::string key = std::to_string(position);
    const ir::Attribute* list = node.attribute("list." + key);
    if (const ir::Attribute* constant = node.attribute(key)) {
      positional_.emplace_back(constant);
    } else if (list != nullptr && std::holds_alternative<ir::SizeList>(*list) &&
               next + tensor_count(std::get<ir::SizeList>(*list)) <= node.operands().size()) {
      TensorList members;
      for (const ir::Extent& member : std::get<ir::SizeList>(*list)) {
        members.push_back(member.is(1) ? node.operands()[next++] : nullptr);
      }
      positional_.emplace_back(std::move(members));
    } else if (next < node.operands().size()) {
      positional_.emplace_back(node.operands()[next++]);
    } else {
      return;
    }
  }
}

ir::Value* Arguments::tensor(int position) const {
  const auto index = static_cast<size_t>(position);
  ir::Value* const* value = index < positional_.size() ? std::get_if<ir::Value*>(&positional_[index]) : nullptr;
  return value == nullptr ? nullptr : *value;
}

const TensorList* Arguments::tensors(int position) const {
  const auto index = static_cast<size_t>(position);
  return index < positional_.size() ? std::get_if<TensorList>(&positional_[index]) : nullptr;
}

const ir::Attribute* Arguments::constant(int position, std::string_view keyword) const {
  if (const ir::Attribute* attribute = node_.attribute(std::to_string(position))) {
    return attribute;
  }
  return keyword.empty() ? nullptr : node_.attribute(keyword);
}

bool Arguments::given(int position, std::string_view keyword) const {
  if (tensor(position) != nullptr || tensors(position) != nullptr) {
    return true;
  }
  const ir::Attribute* attribute = constant(position, keyword);
  return attribute != nullptr && !std::holds_alternative<ir::None>(*attribute);
}

std::optional<int64_t> Arguments::integer(int position, std::string_view keyword) const {
  const ir::Attribute* attribute = constant(position, keyword);
  const int64_t* value = attribute == nullptr ? nullptr : std::get_if<int64_t>(attribute);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<bool> Arguments::boolean(int position, std::string_view keyword) const {
  const ir::Attribute* attribute = constant(position, keyword);
  const bool* value = attribute == nullptr ? nullptr : std::get_if<bool>(attribute);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<ir::SizeList> Arguments::sizes(int position, std::string_view keyword) const {
  const ir::Attribute* attribute = constant(position, keyword);
  if (attribute == nullptr) {
    return std::nullopt;
  }
  if (const auto* list = std::get_if<ir::SizeList>(attribute)) {
    return *list;
  }
  if (const auto* value = std::get_if<int64_t>(attribute)) {
    return ir::SizeList{*value};
  }
  if (const auto* extent = std::get_if<ir::Extent>(attribute)) {
    return ir::SizeList{*extent};
  }
  return std::nullopt;
}

Result<size_t> axis_of(const ir::Node& node, int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) {
    return invalid_argument(node.op() + " names axis " + std::to_string(axis) + " of a tensor with " +
                            std::to_string(rank) + " axes");
  }
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace tessiq::analysis
