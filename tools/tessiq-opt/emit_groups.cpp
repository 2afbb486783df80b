// Asks the emitter for one group after the other.
#include "emit_groups.h"

#include <map>

#include "analysis/decisions.h"
#include "codegen/emit/loop_kernel.h"

namespace tessiq::opt {

Result<std::string> emit_groups(const ir::Graph& graph, Target target) {
  std::map<int64_t, std::string> groups;  // the names of each group's nodes
  for (const auto& node : graph.nodes()) {
    if (const auto group = analysis::group_of(*node)) {
      groups[*group] += " %" + std::string(node->name());
    }
  }
  if (groups.empty()) {
    return std::string("// the graph has no fusion group\n");
  }
  std::string text;
  for (const auto& [group, names] : groups) {
    const std::string heading = "group " + std::to_string(group);
    auto kernel = emit::describe_loop(graph, group);
    if (!kernel) {
      return std::move(kernel).error().with_context(heading);
    }
    auto source = target == Target::kCuda ? emit::emit_cuda(*kernel) : emit::emit_host(*kernel);
    if (!source) {
      return std::move(source).error().with_context(heading);
    }
    text += (text.empty() ? "// " : "\n// ") + heading + ":" + names + "\n" + source->text;
    if (!text.ends_with('\n')) {
      text += '\n';
    }
  }
  return text;
}

}  // namespace tessiq::opt
