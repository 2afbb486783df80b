// Sizes of values, their ranges, and where the plan puts them.
#include "memory_plan_text.h"

#include <charconv>
#include <utility>

#include "analysis/liveness.h"
#include "analysis/memory_plan.h"
#include "support/int_math.h"

namespace tessiq::opt {
namespace {

Result<int64_t> bytes_of(const ir::Value& value, const SymbolSizes& sizes) {
  std::optional<int64_t> bytes = ir::element_size(value.type().element);
  for (const ir::Extent& extent : value.type().shape) {
    const auto found = extent.is_symbol() ? sizes.find(extent.name()) : sizes.end();
    if (!extent.is_known() && found == sizes.end()) {
      return invalid_argument("%" + value.name() + " has size " + extent.to_string() +
                              ", which is no number: give it, as in --size s0=32");
    }
    bytes = checked_mul(*bytes, extent.is_known() ? extent.known() : found->second);
    if (!bytes) {
      return invalid_argument("%" + value.name() + " has more bytes than fit in 64 bits");
    }
  }
  return *bytes;
}

}  // namespace

Result<SymbolSizes> parse_sizes(const std::vector<std::string>& settings) {
  SymbolSizes sizes;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const char* begin = equals == std::string::npos ? nullptr : setting.data() + equals + 1;
    const char* end = setting.data() + setting.size();
    int64_t value = -1;
    if (begin == nullptr || std::from_chars(begin, end, value).ptr != end || begin == end || value < 0) {
      return invalid_argument("\"" + setting + "\" is no size; give one as in s0=32");
    }
    sizes[setting.substr(0, equals)] = value;
  }
  return sizes;
}

Result<std::string> memory_plan_text(const ir::Graph& graph, SymbolSizes sizes) {
  for (const ir::SymbolDefinition& symbol : graph.symbols()) {
    if (symbol.expression) {
      const auto value = symbol.expression->evaluate([&](std::string_view name) {
        const auto found = sizes.find(name);
        return found == sizes.end() ? std::nullopt : std::optional(found->second);
      });
      if (value && *value >= 0) {
        sizes.emplace(symbol.name, *value);
      }
    }
  }
  std::string returned;
  std::vector<analysis::StorageRange> planned;
  std::vector<analysis::BufferRequest> requests;
  for (const analysis::StorageRange& range : analysis::storage_ranges(graph)) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t bytes, bytes_of(*range.value, sizes));
    if (range.escapes) {
      returned += "  %" + range.value->name() + ": " + std::to_string(bytes) + " bytes of its own, returned\n";
      continue;
    }
    planned.push_back(range);
    requests.push_back({bytes, range.first, range.last});
  }
  TESSIQ_ASSIGN_OR_RETURN(const analysis::MemoryPlan plan, analysis::plan_memory(requests));
  std::string text =
      "arena " + std::to_string(plan.arena_bytes) + " bytes, peak " + std::to_string(plan.peak_bytes) + "\n";
  for (size_t i = 0; i < planned.size(); ++i) {
    text += "  %" + planned[i].value->name() + ": " + std::to_string(requests[i].bytes) + " bytes at " +
            std::to_string(plan.offsets[i]) + ", nodes " + std::to_string(planned[i].first) + " to " +
            std::to_string(planned[i].last) + "\n";
  }
  return text + returned;
}

}  // namespace tessiq::opt
