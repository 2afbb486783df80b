// An attribute of another kind than its pass writes counts as absent.
#include "analysis/decisions.h"

namespace tessiq::analysis {
namespace {

std::optional<int64_t> integer(const ir::Node& node, std::string_view key) {
  const ir::Attribute* attribute = node.attribute(key);
  const int64_t* value = attribute == nullptr ? nullptr : std::get_if<int64_t>(attribute);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

bool is_true(const ir::Node& node, std::string_view key) {
  const ir::Attribute* attribute = node.attribute(key);
  const bool* value = attribute == nullptr ? nullptr : std::get_if<bool>(attribute);
  return value != nullptr && *value;
}

}  // namespace

bool is_supported(const ir::Node& node) { return is_true(node, kSupportedAttribute); }
bool is_inlined(const ir::Value& value) {
  return !value.is_parameter() && is_true(*value.producer(), kInlinedAttribute);
}

std::optional<int64_t> cluster_of(const ir::Node& node) { return integer(node, kClusterAttribute); }
std::optional<int64_t> group_of(const ir::Node& node) { return integer(node, kGroupAttribute); }

}  // namespace tessiq::analysis
