#include "codegen/emit/lookup_text.h"

#include "codegen/emit/loop_text.h"

namespace tessiq::emit {
namespace {

std::string lookup_name(size_t tensor, size_t lookup) {
  return "l" + std::to_string(tensor) + "_" + std::to_string(lookup);
}

}  // namespace

std::string lookup_lines(const LoopSizes& loop, size_t tensor, TextTarget target, std::string_view indent,
                         const LookupReads& reads) {
  const std::string type(index_type_of(target));
  std::string text;
  for (size_t k = 0; k < loop.lookups[tensor].size(); ++k) {
    const LookupSizes& lookup = loop.lookups[tensor][k];
    const std::string name = lookup_name(tensor, k);
    const std::string extent = lookup.extent.text();
    const std::string found = "i64(" + reads.positions(lookup.positions) + ")";
    const std::string position = lookup.wraps ? "from_end(" + found + ", " + extent + ")" : found;
    const std::string checked = target == TextTarget::kCuda ? "I(within(" + position + ", " + extent + "))" : position;
    text += std::string(indent) + "const " + type + " " + name + " = " +
            (reads.guard.empty() ? checked : reads.guard + " ? " + checked + " : " + type + "(0)") + ";\n";
    if (target == TextTarget::kHost) {
      const std::string outside = "!is_within(" + name + ", " + extent + ")";
      text += std::string(indent) + "if (" + (reads.guard.empty() ? "" : "(" + reads.guard + ") && ") + outside +
              ") { return report(fault, " + found + ", " + extent + "); }\n";
    }
  }
  return text;
}

std::string lookup_terms(const LoopSizes& loop, size_t tensor, TextTarget target) {
  const std::string type(index_type_of(target));
  std::string text;
  for (size_t k = 0; k < loop.lookups[tensor].size(); ++k) {
    const SizeSlot& stride = loop.lookups[tensor][k].stride;
    if (!stride.is(0)) {
      text += " + " + lookup_name(tensor, k) + (stride.is(1) ? "" : " * " + type + "(" + stride.text() + ")");
    }
  }
  return text;
}

}  // namespace tessiq::emit
