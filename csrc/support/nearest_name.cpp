// Restricted Damerau-Levenshtein distance over three rows.
#include "support/nearest_name.h"

#include <algorithm>
#include <utility>

namespace tessiq {
namespace {

// Longer words are not misspellings, and the cost is the product of two lengths.
constexpr size_t kLongestName = 256;

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

const std::string* nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* nearest = nullptr;
  size_t limit = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (name.size() > kLongestName || candidate.size() > kLongestName) {
      continue;
    }
    const size_t distance = edit_distance(name, candidate);
    if (distance < limit) {
      limit = distance;
      nearest = &candidate;
    }
  }
  return nearest;
}

}  // namespace tessiq
