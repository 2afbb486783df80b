// How each kind of node becomes instructions.
#include <algorithm>

#include "analysis/decisions.h"
#include "analysis/effects.h"
#include "analysis/loop_access.h"
#include "analysis/size_algebra.h"
#include "program/lowering.h"

namespace tessiq::program {
namespace {

std::string digits(size_t position) { return std::to_string(position); }

bool is_decision(std::string_view key) { return key.substr(0, ir::kPassPrefix.size()) == ir::kPassPrefix; }

bool is_position(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

double number_attribute(const ir::Node& node, std::string_view key, double otherwise) {
  const ir::Attribute* attribute = node.attribute(key);
  if (attribute == nullptr) {
    return otherwise;
  }
  if (const auto* integer = std::get_if<int64_t>(attribute)) {
    return static_cast<double>(*integer);
  }
  if (const auto* real = std::get_if<double>(attribute)) {
    return *real;
  }
  return otherwise;
}

// A loop that copies one tensor into another layout of the same shape.
Result<emit::LoopKernel> copy_loop(const ir::Value& source, const ir::Value& target) {
  TESSIQ_ASSIGN_OR_RETURN(analysis::LoopAccess read, analysis::loop_access(source.type(), target.type().shape));
  TESSIQ_ASSIGN_OR_RETURN(analysis::LoopAccess write, analysis::loop_access(target.type(), target.type().shape));
  std::vector<analysis::LoopAccess> accesses{std::move(read), std::move(write)};
  emit::LoopKernel kernel;
  kernel.name = target.name();
  kernel.extents = analysis::collapse(target.type().shape, accesses);
  kernel.inputs.push_back({source.name(), source.type().element, std::move(accesses[0].strides)});
  emit::LoopStep step;
  step.value = target.name();
  step.op = "copy";
  step.expression = "$0";
  step.compute = target.type().element;
  step.element = target.type().element;
  step.arguments.emplace_back(emit::LoopRead{source.name()});
  kernel.steps.push_back(std::move(step));
  kernel.outputs.push_back({target.name(), target.type().element, std::move(accesses[1].strides)});
  return kernel;
}

}  // namespace

Result<void> Lowering::lower_group(const ir::Node& node, int64_t group) {
  const ir::Node* launch_point = launch_points_.at(group);
  // The group's inputs move at its launch; the nodes that read them are where the reader of a report looks.
  const bool moves = awaits_inputs(node);
  moved_ = moves;
  if (launch_point != &node) {
    record(node, Fate::kFusedAway, std::string(launch_point->name()));
    return {};
  }
  TESSIQ_ASSIGN_OR_RETURN(emit::LoopKernel kernel, emit::describe_loop(graph_, group));
  Launch launch;
  launch.kernel = static_cast<int>(program_.kernels.size());
  for (const emit::LoopTensor& input : kernel.inputs) {
    TESSIQ_ASSIGN_OR_RETURN(const Slot slot, read(graph_.find_value(input.value), Place::kDevice));
    launch.inputs.push_back(slot);
  }
  for (const emit::LoopTensor& output : kernel.outputs) {
    TESSIQ_ASSIGN_OR_RETURN(const Slot slot, define(graph_.find_value(output.value), Place::kDevice));
    launch.outputs.push_back(slot);
  }
  TESSIQ_ASSIGN_OR_RETURN(launch.sizes, sizes_.refs(kernel.size_arguments()));
  ir::SizeExpr count = ir::SizeExpr::of_constant(1);
  for (const ir::SizeExpr& extent : kernel.extents) {
    count = analysis::product(count, extent);
  }
  TESSIQ_ASSIGN_OR_RETURN(launch.element_count, sizes_.ref(count));
  program_.kernels.push_back(std::move(kernel));
  program_.instructions.emplace_back(std::move(launch));
  moved_ = moves;
  record(node, Fate::kLaunched, std::string(node.name()));
  return {};
}

Result<void> Lowering::lower_pack(const ir::Node& node) {
  const Place place = place_of(node);
  const ir::Value& source = *node.operand(0);
  if (place == Place::kDevice && target_.has_generated_loops) {
    TESSIQ_ASSIGN_OR_RETURN(emit::LoopKernel kernel, copy_loop(source, *node.result()));
    Launch launch;
    launch.kernel = static_cast<int>(program_.kernels.size());
    TESSIQ_ASSIGN_OR_RETURN(const Slot from, read(&source, place));
    TESSIQ_ASSIGN_OR_RETURN(const Slot to, define(node.result(), place));
    launch.inputs.push_back(from);
    launch.outputs.push_back(to);
    TESSIQ_ASSIGN_OR_RETURN(launch.sizes, sizes_.refs(kernel.size_arguments()));
    TESSIQ_ASSIGN_OR_RETURN(const ir::SizeExpr count, analysis::element_count(node.result()->type().shape));
    TESSIQ_ASSIGN_OR_RETURN(launch.element_count, sizes_.ref(count));
    program_.kernels.push_back(std::move(kernel));
    program_.instructions.emplace_back(std::move(launch));
    record(node, Fate::kLaunched, std::string(node.name()));
    return {};
  }
  Pack pack;
  TESSIQ_ASSIGN_OR_RETURN(pack.source, read(&source, place));
  TESSIQ_ASSIGN_OR_RETURN(pack.target, define(node.result(), place));
  program_.instructions.emplace_back(pack);
  record(node, Fate::kPacked);
  return {};
}

Result<void> Lowering::lower_matmul(const ir::Node& node) {
  // addmm and baddbmm read the addend first; mm and bmm have none.
  const size_t first = node.operands().size() == 3 ? 1 : 0;
  Matmul matmul;
  if (first == 1) {
    TESSIQ_ASSIGN_OR_RETURN(matmul.addend, read(node.operand(0), Place::kDevice));
  }
  TESSIQ_ASSIGN_OR_RETURN(matmul.a, read(node.operands()[first], Place::kDevice));
  TESSIQ_ASSIGN_OR_RETURN(matmul.b, read(node.operands()[first + 1], Place::kDevice));
  matmul.alpha = number_attribute(node, "alpha", 1);
  matmul.beta = number_attribute(node, "beta", 1);
  TESSIQ_ASSIGN_OR_RETURN(matmul.target, define(node.result(), Place::kDevice));
  program_.instructions.emplace_back(matmul);
  record(node, Fate::kLibrary);
  return {};
}

Result<void> Lowering::lower_convolution(const ir::Node& node) {
  Convolution convolution;
  TESSIQ_ASSIGN_OR_RETURN(convolution.numbers, analysis::convolution_of(node));
  const analysis::Convolution& numbers = convolution.numbers;
  TESSIQ_ASSIGN_OR_RETURN(convolution.otherwise, dispatch_of(node, Place::kDevice));
  const auto slot_of = [&](int operand) -> Result<Slot> { return read(node.operand(operand), Place::kDevice); };
  TESSIQ_ASSIGN_OR_RETURN(convolution.input, slot_of(numbers.input));
  TESSIQ_ASSIGN_OR_RETURN(convolution.weight, slot_of(numbers.weight));
  if (numbers.is_backward) {
    TESSIQ_ASSIGN_OR_RETURN(convolution.gradient, slot_of(numbers.gradient));
  }
  for (size_t i = 0; i < (numbers.is_backward ? 2U : 1U); ++i) {
    convolution.targets.push_back(numbers.wanted[i] ? convolution.otherwise.targets[i] : kNoSlot);
  }
  program_.instructions.emplace_back(std::move(convolution));
  record(node, Fate::kLibrary);
  return {};
}

Result<void> Lowering::lower_custom(const ir::Node& node) {
  TESSIQ_ASSIGN_OR_RETURN(Dispatch dispatch, dispatch_of(node, Place::kDevice));
  // A kernel writes every result, also one that nothing reads.
  for (int i = 0; i < node.result_count(); ++i) {
    Slot& target = dispatch.targets[static_cast<size_t>(i)];
    if (target == kNoSlot) {
      TESSIQ_ASSIGN_OR_RETURN(target, define(node.result(i), Place::kDevice));
    }
  }
  program_.instructions.emplace_back(Custom{std::move(dispatch)});
  record(node, Fate::kCustom, std::string(node.name()));
  return {};
}

Result<void> Lowering::lower_views(const ir::Node& node, const ir::SizeList& offsets) {
  if (offsets.size() != static_cast<size_t>(node.result_count())) {
    return internal("one view offset a result was expected");
  }
  const Place place = place_of(node);
  TESSIQ_ASSIGN_OR_RETURN(const Slot source, read(node.operand(0), place));
  for (int i = 0; i < node.result_count(); ++i) {
    View view;
    view.source = source;
    TESSIQ_ASSIGN_OR_RETURN(view.offset, sizes_.ref(offsets[static_cast<size_t>(i)]));
    TESSIQ_ASSIGN_OR_RETURN(view.target, define(node.result(i), place));
    view_of_[node.result(i)] = {node.operand(0), view.offset};
    program_.instructions.emplace_back(view);
  }
  record(node, Fate::kView);
  return {};
}

Result<Argument> Lowering::argument(const ir::Attribute& attribute) {
  if (const auto* symbol = std::get_if<ir::Extent>(&attribute)) {
    TESSIQ_ASSIGN_OR_RETURN(const SizeRef ref, sizes_.ref(*symbol));
    return Argument(ref);
  }
  if (const auto* list = std::get_if<ir::SizeList>(&attribute)) {
    TESSIQ_ASSIGN_OR_RETURN(std::vector<SizeRef> refs, sizes_.refs(*list));
    return Argument(std::move(refs));
  }
  return std::visit(
      [](const auto& value) -> Argument {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, ir::Extent> || std::is_same_v<T, ir::SizeList>) {
          return ir::None{};  // answered above
        } else {
          return value;
        }
      },
      attribute);
}

Result<Argument> Lowering::list_argument(const ir::Node& node, const ir::SizeList& members, size_t& next, Place place) {
  SlotList list;
  for (const ir::Extent& member : members) {
    Slot slot = kNoSlot;
    if (!member.is(0)) {
      TESSIQ_ASSIGN_OR_RETURN(slot, read(node.operands().at(next++), place));
    }
    list.slots.push_back(slot);
  }
  return Argument(std::move(list));
}

Result<Dispatch> Lowering::dispatch_of(const ir::Node& node, Place place) {
  Dispatch dispatch;
  dispatch.op = node.op();
  dispatch.place = place;
  dispatch.may_keep_operands = analysis::may_keep_operands(node);
  size_t next = 0;
  size_t highest = 0;
  for (const auto& [key, value] : node.attributes()) {
    const std::string_view name = std::string_view(key).starts_with("list.") ? std::string_view(key).substr(5) : key;
    if (is_position(name)) {
      highest = std::max(highest, std::stoul(std::string(name)) + 1);
    }
  }
  // Positions hold an attribute, a list of operands, or the next operand. Keyword operands come after them all.
  size_t keyword_operands = 0;
  for (const auto& [key, value] : node.attributes()) {
    keyword_operands += key.starts_with("operand.") ? 1 : 0;
  }
  for (size_t position = 0; position < highest || next + keyword_operands < node.operands().size(); ++position) {
    if (const ir::Attribute* members = node.attribute("list." + digits(position))) {
      TESSIQ_ASSIGN_OR_RETURN(Argument list, list_argument(node, std::get<ir::SizeList>(*members), next, place));
      dispatch.positional.push_back(std::move(list));
    } else if (const ir::Attribute* attribute = node.attribute(digits(position))) {
      TESSIQ_ASSIGN_OR_RETURN(Argument value, argument(*attribute));
      dispatch.positional.push_back(std::move(value));
    } else if (next < node.operands().size()) {
      TESSIQ_ASSIGN_OR_RETURN(const Slot slot, read(node.operands()[next++], place));
      dispatch.positional.emplace_back(slot);
    } else {
      return internal("argument " + digits(position) + " of " + node.op() + " is missing");
    }
  }
  for (const auto& [key, value] : node.attributes()) {
    if (key.starts_with("operand.")) {
      // The keyword a tensor was given by; such operands follow the positional ones in the keys' own order.
      TESSIQ_ASSIGN_OR_RETURN(const Slot slot, read(node.operands().at(next++), place));
      dispatch.keywords.emplace_back(key.substr(8), slot);
    } else if (!is_position(key) && !is_decision(key) && !key.starts_with("list.")) {
      TESSIQ_ASSIGN_OR_RETURN(Argument converted, argument(value));
      dispatch.keywords.emplace_back(key, std::move(converted));
    }
  }
  for (int i = 0; i < node.result_count(); ++i) {
    const ir::Value* result = node.result(i);
    Slot slot = kNoSlot;
    if (!result->uses().empty() || graph_.is_result(result)) {
      TESSIQ_ASSIGN_OR_RETURN(slot, define(result, place));
    }
    dispatch.targets.push_back(slot);
  }
  return dispatch;
}

Result<void> Lowering::lower_dispatch(const ir::Node& node) {
  const Place place = place_of(node);
  TESSIQ_ASSIGN_OR_RETURN(Dispatch dispatch, dispatch_of(node, place));
  program_.instructions.emplace_back(std::move(dispatch));
  record(node, place == Place::kDevice ? Fate::kDispatchedOnDevice : Fate::kDispatchedOnHost);
  return {};
}

void Lowering::record(const ir::Node& node, Fate fate, std::string kernel) {
  std::string reason = text_attribute(node, "tessiq.reason");
  if (reason.empty() && (fate == Fate::kDispatchedOnDevice || fate == Fate::kDispatchedOnHost)) {
    reason = text_attribute(node, analysis::kPlacementAttribute);
  }
  program_.fates.push_back(
      {std::string(node.name()), node.op(), fate, std::move(kernel), moved_, std::move(reason), node.location()});
  record_absorbed(text_attribute(node, "tessiq.absorbed"), program_.fates.back());
}

// By copy: the one they went into is in the list that grows.
void Lowering::record_absorbed(std::string_view absorbed, NodeFate into) {
  if (into.fate != Fate::kDispatchedOnDevice && into.fate != Fate::kDispatchedOnHost) {
    into.fate = Fate::kFusedAway;
    into.kernel = into.kernel.empty() ? into.node : into.kernel;
    into.moves_inputs = false;
  }
  while (!absorbed.empty()) {
    const size_t end = std::min(absorbed.find(", "), absorbed.size());
    const size_t space = absorbed.find(' ');
    into.node = absorbed.substr(0, space);
    into.op = absorbed.substr(space + 1, end - space - 1);
    program_.fates.push_back(into);
    absorbed.remove_prefix(std::min(end + 2, absorbed.size()));
  }
}

}  // namespace tessiq::program
