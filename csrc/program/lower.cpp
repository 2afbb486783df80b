// Walks a graph with every decision in it and writes the program of a call.
//
// Relies on the compile pipeline having run: a claimed node has the kernel its claim promised.
#include "program/lower.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/size_algebra.h"
#include "optable/lookup.h"
#include "program/arena.h"
#include "program/lowering.h"

namespace tessiq::program {

int64_t integer_attribute(const ir::Node& node, std::string_view key, int64_t otherwise) {
  const ir::Attribute* attribute = node.attribute(key);
  const int64_t* value = attribute == nullptr ? nullptr : std::get_if<int64_t>(attribute);
  return value == nullptr ? otherwise : *value;
}

bool flag_attribute(const ir::Node& node, std::string_view key) {
  const ir::Attribute* attribute = node.attribute(key);
  const bool* value = attribute == nullptr ? nullptr : std::get_if<bool>(attribute);
  return value != nullptr && *value;
}

std::string text_attribute(const ir::Node& node, std::string_view key) {
  const ir::Attribute* attribute = node.attribute(key);
  const std::string* value = attribute == nullptr ? nullptr : std::get_if<std::string>(attribute);
  return value == nullptr ? std::string() : *value;
}

Lowering::Lowering(const ir::Graph& graph, const CallingConvention& convention, const analysis::TargetOptions& target)
    : graph_(graph), convention_(convention), target_(target), sizes_(graph) {
  program_.name = graph.name();
  for (const auto& node : graph.nodes()) {
    if (const int64_t group = integer_attribute(*node, "tessiq.group", -1); group >= 0) {
      // The last node of a group in list order: every input of the group is defined by then.
      launch_points_[group] = node.get();
    }
  }
}

Result<Program> Lowering::run() && {
  TESSIQ_RETURN_IF_ERROR(bind_inputs());
  for (const auto& node : graph_.nodes()) {
    moved_ = false;
    if (auto lowered = lower_node(*node); !lowered) {
      return std::move(lowered).error().with_context("%" + std::string(node->name()));
    }
  }
  TESSIQ_RETURN_IF_ERROR(bind_results());
  insert_frees();
  TESSIQ_RETURN_IF_ERROR(assign_arena(program_));
  program_.sizes = std::move(sizes_).take_entries();
  return std::move(program_);
}

Result<void> Lowering::bind_inputs() {
  for (size_t i = 0; i < convention_.inputs.size(); ++i) {
    const InputBinding& binding = convention_.inputs[i];
    const int position = static_cast<int>(i);
    if (!binding.is_tensor) {
      if (!binding.symbol.empty()) {
        sizes_.bind_integer(binding.symbol, position);
      }
      continue;
    }
    const ir::Value* value = graph_.find_value(binding.name);
    if (value == nullptr || !value->is_parameter()) {
      return invalid_argument("the graph has no parameter %" + binding.name);
    }
    for (int axis = 0; axis < value->type().rank(); ++axis) {
      if (const ir::Extent& extent = value->type().shape[static_cast<size_t>(axis)]; extent.is_symbol()) {
        sizes_.bind_extent(extent.name(), position, axis);
      }
    }
    input_of_[value] = position;
  }
  // Only now: a size of one argument may be worked out from another that comes later.
  for (const InputBinding& binding : convention_.inputs) {
    InputSpec spec{binding.name, kNoSlot, binding.is_tensor};
    if (binding.is_tensor) {
      TESSIQ_ASSIGN_OR_RETURN(spec.slot, define(graph_.find_value(binding.name), binding.place));
    }
    program_.inputs.push_back(std::move(spec));
  }
  return {};
}

Place Lowering::place_of(const ir::Node& node) const {
  if (target_.unclaimed == analysis::UnclaimedPlace::kDevice) {
    return text_attribute(node, kDevice) == "host" ? Place::kHost : Place::kDevice;
  }
  if (node.attribute("tessiq.cluster") != nullptr) {
    return Place::kDevice;
  }
  if (node.op() == "tessiq.pack") {
    // A pack serves the claimed node that reads it.
    for (const ir::Use& use : node.result()->uses()) {
      if (use.node->attribute("tessiq.cluster") != nullptr) {
        return Place::kDevice;
      }
    }
  }
  return Place::kHost;
}

Result<void> Lowering::lower_node(const ir::Node& node) {
  if (const int64_t group = integer_attribute(node, "tessiq.group", -1); group >= 0) {
    return lower_group(node, group);
  }
  if (flag_attribute(node, "tessiq.inlined")) {
    const int64_t reader = integer_attribute(*node.result()->uses().front().node, "tessiq.group", -1);
    const auto launch_point = launch_points_.find(reader);
    if (launch_point == launch_points_.end()) {
      return internal(std::string(node.name()) + " is inlined, and its reader is in no group");
    }
    record(node, Fate::kFusedAway, std::string(launch_point->second->name()));
    return {};
  }
  if (const ir::Attribute* offsets = node.attribute(kViewOffsets); offsets != nullptr) {
    if (const auto* list = std::get_if<ir::SizeList>(offsets)) {
      return lower_views(node, *list);
    }
    return internal(std::string(kViewOffsets) + " is not a list of sizes");
  }
  const bool placed = place_of(node) == Place::kDevice;
  if (node.op() == "tessiq.pack") {
    return lower_pack(node);
  }
  if (placed && flag_attribute(node, "tessiq.supported")) {
    const optable::OpInfo* row = optable::find_op(node.op());
    if (row != nullptr && row->category == optable::Category::kMatmul) {
      return lower_matmul(node);
    }
    if (row != nullptr && row->category == optable::Category::kConvolution) {
      return lower_convolution(node);
    }
    if (row != nullptr && row->category == optable::Category::kCustom) {
      return lower_custom(node);
    }
    if (row != nullptr && row->category == optable::Category::kCopy) {
      return lower_pack(node);
    }
  }
  return lower_dispatch(node);
}

Result<Slot> Lowering::define(const ir::Value* value, Place place) {
  SlotInfo info;
  info.value = value->name();
  info.place = place;
  info.element = value->type().element;
  TESSIQ_ASSIGN_OR_RETURN(info.sizes, sizes_.refs(value->type().shape));
  TESSIQ_ASSIGN_OR_RETURN(const std::vector<ir::SizeExpr> strides, analysis::stride_exprs(value->type()));
  TESSIQ_ASSIGN_OR_RETURN(info.strides, sizes_.refs(strides));
  const Slot slot = static_cast<Slot>(program_.slots.size());
  program_.slots.push_back(std::move(info));
  slots_[static_cast<size_t>(place)][value] = slot;
  return slot;
}

Result<Slot> Lowering::read(const ir::Value* value, Place place) {
  const Slots& here = slots_[static_cast<size_t>(place)];
  if (auto found = here.find(value); found != here.end()) {
    return found->second;
  }
  const Place other = place == Place::kHost ? Place::kDevice : Place::kHost;
  const Slots& there = slots_[static_cast<size_t>(other)];
  const auto source = there.find(value);
  if (source == there.end()) {
    return internal("%" + value->name() + " is read before anything computed it");
  }
  Move move{source->second, kNoSlot, -1};
  if (auto input = input_of_.find(value); input != input_of_.end()) {
    move.input = input->second;
  }
  TESSIQ_ASSIGN_OR_RETURN(move.target, define(value, place));
  program_.instructions.emplace_back(move);
  moved_ = true;
  return move.target;
}

bool Lowering::awaits_inputs(const ir::Node& node) const {
  const Slots& host = slots_[static_cast<size_t>(Place::kHost)];
  const Slots& device = slots_[static_cast<size_t>(Place::kDevice)];
  return std::any_of(node.operands().begin(), node.operands().end(),
                     [&](const ir::Value* operand) { return host.contains(operand) && !device.contains(operand); });
}

const ir::Value* Lowering::owner_of(const ir::Value* value) const {
  for (auto found = view_of_.find(value); found != view_of_.end(); found = view_of_.find(value)) {
    value = found->second.source;
  }
  return value;
}

Result<Slot> Lowering::read_with_owner(const ir::Value* value) {
  const auto view = view_of_.find(value);
  if (view == view_of_.end() || slots_[static_cast<size_t>(Place::kHost)].contains(value)) {
    return read(value, Place::kHost);
  }
  View again;
  TESSIQ_ASSIGN_OR_RETURN(again.source, read_with_owner(view->second.source));
  again.offset = view->second.offset;
  TESSIQ_ASSIGN_OR_RETURN(again.target, define(value, Place::kHost));
  program_.instructions.emplace_back(again);
  return again.target;
}

Result<void> Lowering::bind_results() {
  // Results that share memory where they were computed have to share it after they have crossed.
  std::unordered_map<const ir::Value*, std::unordered_set<const ir::Value*>> results_of;
  for (const ResultBinding& binding : convention_.results) {
    if (const auto* result = std::get_if<ResultValue>(&binding)) {
      if (const ir::Value* value = graph_.find_value(result->value)) {
        results_of[owner_of(value)].insert(value);
      }
    }
  }
  for (const ResultBinding& binding : convention_.results) {
    if (std::holds_alternative<ResultNone>(binding)) {
      program_.outputs.emplace_back(OutputNone{});
      continue;
    }
    if (const auto* size = std::get_if<ResultSize>(&binding)) {
      TESSIQ_ASSIGN_OR_RETURN(const SizeRef ref, sizes_.ref(size->size));
      program_.outputs.emplace_back(OutputSize{ref});
      continue;
    }
    const std::string& name = std::get<ResultValue>(binding).value;
    const ir::Value* value = graph_.find_value(name);
    if (value == nullptr) {
      return invalid_argument("the graph has no value %" + name);
    }
    Place place = Place::kHost;
    if (target_.unclaimed == analysis::UnclaimedPlace::kDevice) {
      // A parameter goes back as it came.
      place = value->is_parameter() ? convention_.inputs[static_cast<size_t>(input_of_.at(value))].place
                                    : place_of(*value->producer());
    }
    const bool shares = place == Place::kHost && results_of.at(owner_of(value)).size() > 1;
    TESSIQ_ASSIGN_OR_RETURN(const Slot slot, shares ? read_with_owner(value) : read(value, place));
    program_.outputs.emplace_back(OutputSlot{slot});
  }
  return {};
}

Result<Program> lower(const ir::Graph& graph, const CallingConvention& convention,
                      const analysis::TargetOptions& target) {
  return Lowering(graph, convention, target).run();
}

}  // namespace tessiq::program
