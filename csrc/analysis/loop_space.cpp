// Frames are handed from readers to what they read: readers stand behind it in the list.
#include "analysis/loop_space.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/size_algebra.h"

namespace tessiq::analysis {
namespace {

class Builder {
 public:
  Builder(const ir::Graph& graph, std::span<const ir::Node* const> members)
      : graph_(graph), members_(members), frames_(members.size()) {
    for (size_t index = 0; index < members.size(); ++index) {
      index_of_.emplace(members[index], index);
    }
  }

  Result<LoopSpace> build() && {
    for (const ir::Node* node : members_) {
      const optable::OpInfo* op = optable::find_op(node->op());
      if (op == nullptr || !op->is_loop() || node->result_count() != 1) {
        return unsupported(node->op() + " is not computed by a loop");
      }
    }
    space_.shape = members_.back()->result()->type().shape;
    root_.shift.assign(space_.shape.size(), ir::SizeExpr::of_constant(0));
    for (size_t index = members_.size(); index-- > 0;) {
      TESSIQ_RETURN_IF_ERROR(settle(index));
      TESSIQ_RETURN_IF_ERROR(hand_on(index));
    }
    for (std::optional<LoopFrame>& frame : frames_) {
      space_.frames.push_back(*std::move(frame));
    }
    return std::move(space_);
  }

 private:
  std::optional<size_t> index_of(const ir::Value& value) const {
    const auto found = value.is_parameter() ? index_of_.end() : index_of_.find(value.producer());
    return found == index_of_.end() ? std::nullopt : std::optional(found->second);
  }

  bool is_read_outside(const ir::Value& value) const {
    return graph_.is_result(&value) || std::any_of(value.uses().begin(), value.uses().end(),
                                                   [&](const ir::Use& use) { return index_of_.count(use.node) == 0; });
  }

  // Every reader in the group has been asked.
  Result<void> settle(size_t index) {
    const ir::Value& value = *members_[index]->result();
    std::optional<LoopFrame>& frame = frames_[index];
    if (!frame) {
      frame = root_;
    }
    if (*frame == root_ && !same_shape(value.type().shape, space_.shape)) {
      return unsupported("%" + value.name() + " runs over another shape");
    }
    if (*frame != root_ && is_read_outside(value)) {
      return unsupported("%" + value.name() + " is read outside its loop, which computes it in a window only");
    }
    if (!frame->windows.empty() && !is_total(*members_[index])) {
      return unsupported("%" + value.name() + " cannot be computed on any operands, as it would be outside its window");
    }
    return {};
  }

  Result<void> hand_on(size_t index) {
    const ir::Node& node = *members_[index];
    const bool reads_members = std::any_of(node.operands().begin(), node.operands().end(),
                                           [&](const ir::Value* operand) { return index_of(*operand).has_value(); });
    if (!reads_members) {
      return {};
    }
    const optable::OpInfo& op = *optable::find_op(node.op());
    if (op.index_map == optable::IndexMap::kNone) {
      for (const ir::Value* operand : node.operands()) {
        TESSIQ_RETURN_IF_ERROR(place(node, *operand, {}));
      }
      return {};
    }
    TESSIQ_ASSIGN_OR_RETURN(const ElementStep step, element_step(node, op));
    for (const StepArgument& argument : step.arguments) {
      if (const auto* operand = std::get_if<StepOperand>(&argument)) {
        TESSIQ_RETURN_IF_ERROR(place(node, *node.operand(operand->index), *operand));
      }
    }
    return {};
  }

  Result<void> place(const ir::Node& reader, const ir::Value& value, const StepOperand& how) {
    TESSIQ_RETURN_IF_ERROR(check_lookups(reader, value, how));
    const std::optional<size_t> index = index_of(value);
    if (!index) {
      return {};
    }
    const bool in_place = how.windows.empty() && how.reversed.empty();
    if (!how.reversed.empty() || (in_place && !same_shape(value.type().shape, reader.result()->type().shape))) {
      return unsupported("%" + value.name() + " is read at other positions than it is computed at");
    }
    LoopFrame frame = frames_[index_of_.at(&reader)]->within(how.windows);
    if (frames_[*index] && *frames_[*index] != frame) {
      return unsupported("%" + value.name() + " is read in two windows");
    }
    frames_[*index] = std::move(frame);
    return {};
  }

  // What is looked up, and where, lies in memory.
  Result<void> check_lookups(const ir::Node& reader, const ir::Value& value, const StepOperand& how) const {
    const bool is_computed = std::any_of(how.lookups.begin(), how.lookups.end(), [&](const Lookup& lookup) {
      return index_of(value).has_value() || index_of(*reader.operand(lookup.index)).has_value();
    });
    return is_computed ? unsupported("%" + value.name() + " is looked up in the loop that computes it or its positions")
                       : Result<void>();
  }

  const ir::Graph& graph_;
  std::span<const ir::Node* const> members_;
  std::unordered_map<const ir::Node*, size_t> index_of_;
  std::vector<std::optional<LoopFrame>> frames_;
  LoopFrame root_;
  LoopSpace space_;
};

}  // namespace

LoopFrame LoopFrame::within(const std::vector<Window>& inner) const {
  LoopFrame result = *this;
  for (const Window& window : inner) {
    result.windows.push_back(moved(window));
    ir::SizeExpr& along = result.shift[static_cast<size_t>(window.axis)];
    along = sum(along, window.begin);
  }
  return result;
}

Window LoopFrame::moved(const Window& window) const {
  const ir::SizeExpr& by = shift[static_cast<size_t>(window.axis)];
  return {window.axis, sum(window.begin, by), sum(window.end, by)};
}

Result<LoopSpace> loop_space(const ir::Graph& graph, std::span<const ir::Node* const> members) {
  return Builder(graph, members).build();
}

bool is_total(const ir::Node& node) {
  const Result<ElementStep> step = element_step(node, *optable::find_op(node.op()));
  return step && ir::is_floating(step->operates_on);
}

bool same_shape(const ir::Shape& a, const ir::Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ir::Extent& left, const ir::Extent& right) { return left.provably_equals(right); });
}

}  // namespace tessiq::analysis
