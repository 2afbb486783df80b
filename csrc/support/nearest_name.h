// What a misspelt name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessiq {

// The candidate with the fewest letters inserted, removed, changed or swapped with a neighbour, the first of equals;
// null where all need more than a third of the name's length, or more than one for a name of two letters or fewer.
const std::string* nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tessiq
