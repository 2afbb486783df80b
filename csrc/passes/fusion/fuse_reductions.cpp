// Pass fuse-reductions: which loops a reduction is computed with, and which reductions together.
//
// Requires:      fuse-elementwise.
// Guarantees:    every claimed reduction that somebody reads has tessiq.group; the members of a group with a reduction
//                have a row space, and no reader outside stands before the last of them.
// Legal because: every member's value at a position depends on values at that position and on what was combined of the
//                same row, and the graph of units stays free of cycles. Nodes move only past others that neither read
//                them nor have effects on what they read.
// Stops holding when: a kernel walks the rows in an order that another row depends on.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analysis/row_space.h"
#include "passes/fusion/groups.h"
#include "passes/manager/pass.h"

namespace tessiq::passes {
namespace {

// Tensors a kernel reads and writes: their strides have to fit the parameters of a launch.
constexpr size_t kMaxTensors = 48;
// Rows walked several times are not split over the processors, so that a few long ones would leave most of them idle.
constexpr int64_t kFewRows = 32;
constexpr int64_t kLongRow = 8192;
// Reductions that nothing connects but their shape are one launch, and one more where the work of a row is split: the
// gradients of a norm's weight and bias. Near each other, so that little lives longer than it has to.
constexpr size_t kNear = 32;
constexpr size_t kFewNodes = 4;

// Known extents multiplied out, with symbols counted as one.
std::pair<int64_t, int64_t> rows_and_length(const analysis::RowSpace& space) {
  int64_t rows = 1;
  int64_t length = 1;
  for (size_t axis = 0; axis < space.shape.size(); ++axis) {
    if (space.shape[axis].is_known()) {
      (space.reduced[axis] != 0 ? length : rows) *= std::max<int64_t>(space.shape[axis].known(), 1);
    }
  }
  return {rows, length};
}

bool pays(const analysis::RowSpace& space) {
  if (space.inputs.size() + space.outputs.size() > kMaxTensors) {
    return false;
  }
  // Rows that are looked up are read one by one.
  const bool looks_up = std::any_of(space.inputs.begin(), space.inputs.end(),
                                    [](const analysis::RowTensor& input) { return !input.lookups.empty(); });
  if (looks_up && !analysis::reduces_neighbours(space)) {
    return false;
  }
  if (space.walks == 1) {
    return true;
  }
  const auto [rows, length] = rows_and_length(space);
  const bool rows_known =
      std::all_of(space.shape.begin(), space.shape.end(), [](const ir::Extent& extent) { return extent.is_known(); });
  return analysis::reduces_neighbours(space) && !(rows_known && rows < kFewRows && length > kLongRow);
}

class FuseReductions final : public Pass {
 public:
  std::string_view name() const override { return "fuse-reductions"; }
  std::string_view description() const override { return "joins reductions with the loops before and after them"; }

  Result<bool> run(ir::Graph& graph, const TargetOptions& /*target*/) override {
    auto joins = [&](std::span<const ir::Node* const> nodes) { return is_one_row_kernel(graph, nodes); };
    Groups groups(graph);
    for (bool joined = true; joined;) {
      joined = groups.join_neighbours(joins);
      // Reductions of one operand read it once. Nothing else connects them, so their clusters may differ.
      joined |= groups.join_siblings(joins, [](const ir::Value&) { return true; });
    }
    groups.join_near(joins, is_reduction, kNear, kFewNodes);
    TESSIQ_ASSIGN_OR_RETURN(const std::optional<bool> changed, groups.record());
    if (changed) {
      return *changed;
    }
    Groups apart(graph);  // no order of the joined ones exists: each reduction is a kernel of its own
    TESSIQ_ASSIGN_OR_RETURN(const std::optional<bool> numbered, apart.record());
    return numbered.value_or(false);
  }
};

TESSIQ_REGISTER_PASS(FuseReductions);

}  // namespace

bool is_one_row_kernel(const ir::Graph& graph, std::span<const ir::Node* const> nodes) {
  if (std::none_of(nodes.begin(), nodes.end(), [](const ir::Node* node) { return is_reduction(*node); })) {
    return false;
  }
  const auto space = analysis::row_space(graph, nodes);
  return space && pays(*space);
}

}  // namespace tessiq::passes
