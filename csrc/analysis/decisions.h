// The attributes in which passes record what they decided, and how to read them: the one spelling of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/graph.h"

namespace tessiq::analysis {

inline constexpr std::string_view kSupportedAttribute = "tessiq.supported";  // bool: the backend runs the node
inline constexpr std::string_view kReasonAttribute = "tessiq.reason";        // "id: text", where it does not
inline constexpr std::string_view kClusterAttribute = "tessiq.cluster";      // int: the unit it runs in on the device
inline constexpr std::string_view kPlacementAttribute =
    "tessiq.placement";                                                  // "id: text", why its unit runs where it does
inline constexpr std::string_view kGroupAttribute = "tessiq.group";      // int: the loop that computes it
inline constexpr std::string_view kInlinedAttribute = "tessiq.inlined";  // bool: a constant, written where it is read
inline constexpr std::string_view kPackOp = "tessiq.pack";               // a packed copy that a pass put in

// What placement says of a unit; the first two keep it on the host.
inline constexpr std::string_view kNothingToCompute = "nothing-to-compute";
inline constexpr std::string_view kNotWorthCrossing = "not-worth-crossing";
inline constexpr std::string_view kWorthCrossing = "worth-crossing";

bool is_supported(const ir::Node& node);
bool is_inlined(const ir::Value& value);
std::optional<int64_t> cluster_of(const ir::Node& node);
std::optional<int64_t> group_of(const ir::Node& node);

}  // namespace tessiq::analysis
