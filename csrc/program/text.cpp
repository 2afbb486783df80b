// A program as text: what explain prints and golden files compare.
#include <string>

#include "program/program.h"

namespace tessiq::program {
namespace {

std::string size(SizeRef ref) { return ref.is_constant ? std::to_string(ref.value) : "#" + std::to_string(ref.value); }

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  std::string write() {
    line("program @" + program_.name);
    for (size_t i = 0; i < program_.sizes.size(); ++i) {
      line("  size #" + std::to_string(i) + " = " + to_text(program_.sizes[i]));
    }
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const InputSpec& input = program_.inputs[i];
      line("  input " + std::to_string(i) + " = " +
           (input.slot == kNoSlot ? "integer " + input.name : slot(input.slot) + ": " + type(input.slot)));
    }
    if (!program_.arena.buffers.empty()) {
      line("  arena" + arena_text());
    }
    for (const Instruction& instruction : program_.instructions) {
      std::visit(*this, instruction);
    }
    std::string outputs;
    for (const Output& output : program_.outputs) {
      outputs += (outputs.empty() ? " " : ", ") + output_text(output);
    }
    line("  return" + outputs);
    return std::move(text_);
  }

  void operator()(const Move& move) {
    line("  move " + slot(move.target) + " = " + slot(move.source) +
         (move.input < 0 ? "" : " (input " + std::to_string(move.input) + ", kept)"));
  }
  void operator()(const Launch& launch) {
    line("  launch " + list(launch.outputs) + " = kernel " + std::to_string(launch.kernel) + "(" + list(launch.inputs) +
         ") sizes " + sizes(launch.sizes) + " elements " + size(launch.element_count));
  }
  void operator()(const Matmul& matmul) {
    std::string text = "  matmul " + slot(matmul.target) + ": " + type(matmul.target) + " = " + slot(matmul.a) + " @ " +
                       slot(matmul.b);
    if (matmul.addend != kNoSlot) {
      text += " + " + slot(matmul.addend);
    }
    line(text + (matmul.alpha == 1 ? "" : " alpha " + ir::attribute_to_string(matmul.alpha)) +
         (matmul.beta == 1 ? "" : " beta " + ir::attribute_to_string(matmul.beta)));
  }
  void operator()(const View& view) {
    line("  view " + slot(view.target) + ": " + type(view.target) + " = " + slot(view.source) + " + " +
         size(view.offset));
  }
  void operator()(const Pack& pack) {
    line("  pack " + slot(pack.target) + ": " + type(pack.target) + " = " + slot(pack.source));
  }
  void operator()(const Convolution& convolution) {
    line("  convolution " + list(convolution.otherwise.targets) + " = " + call(convolution.otherwise));
  }
  void operator()(const Custom& custom) {
    line("  custom " + list(custom.otherwise.targets) + " = " + call(custom.otherwise));
  }
  void operator()(const Dispatch& dispatch) {
    line("  dispatch " + list(dispatch.targets) + " = " + call(dispatch) + " on " +
         (dispatch.place == Place::kDevice ? "device" : "host"));
  }
  void operator()(const Free& free) { line("  free " + list(free.slots)); }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  std::string slot(Slot slot) const {
    if (slot == kNoSlot) {
      return "_";
    }
    const SlotInfo& info = program_.slots[static_cast<size_t>(slot)];
    return "%" + info.value + (info.place == Place::kDevice ? "" : "@host");
  }

  std::string list(const std::vector<Slot>& slots) const {
    std::string text;
    for (Slot one : slots) {
      text += (text.empty() ? "" : ", ") + slot(one);
    }
    return text;
  }

  std::string call(const Dispatch& dispatch) const {
    std::string arguments;
    for (const Argument& argument : dispatch.positional) {
      arguments += (arguments.empty() ? "" : ", ") + argument_text(argument);
    }
    for (const auto& [name, argument] : dispatch.keywords) {
      arguments += (arguments.empty() ? "" : ", ") + name + "=" + argument_text(argument);
    }
    return dispatch.op + "(" + arguments + ")";
  }

  std::string arena_text() const {
    const auto& plan = program_.arena.plan;
    std::string text = plan ? " of " + std::to_string(plan->arena_bytes) + " bytes:" : " placed at each call:";
    for (size_t i = 0; i < program_.arena.buffers.size(); ++i) {
      text += (i == 0 ? " " : ", ") + slot(program_.arena.buffers[i].slot);
      text += plan ? " at " + std::to_string(plan->offsets[i]) : "";
    }
    return text;
  }

  std::string sizes(const std::vector<SizeRef>& refs) const {
    std::string text;
    for (SizeRef ref : refs) {
      text += (text.empty() ? "" : ", ") + size(ref);
    }
    return "[" + text + "]";
  }

  std::string type(Slot slot) const {
    const SlotInfo& info = program_.slots[static_cast<size_t>(slot)];
    return std::string(ir::element_type_name(info.element)) + sizes(info.sizes) + " strides " + sizes(info.strides);
  }

  std::string argument_text(const Argument& argument) const {
    if (const Slot* one = std::get_if<Slot>(&argument)) {
      return slot(*one);
    }
    if (const auto* members = std::get_if<SlotList>(&argument)) {
      return "[" + list(members->slots) + "]";
    }
    if (const auto* ref = std::get_if<SizeRef>(&argument)) {
      return size(*ref);
    }
    if (const auto* refs = std::get_if<std::vector<SizeRef>>(&argument)) {
      return sizes(*refs);
    }
    return std::visit(
        [](const auto& value) -> std::string {
          if constexpr (std::is_constructible_v<ir::Attribute, decltype(value)> &&
                        !std::is_same_v<std::decay_t<decltype(value)>, Slot>) {
            return ir::attribute_to_string(ir::Attribute(value));
          } else {
            return "";
          }
        },
        argument);
  }

  std::string output_text(const Output& output) const {
    if (const auto* value = std::get_if<OutputSlot>(&output)) {
      return slot(value->slot);
    }
    if (const auto* number = std::get_if<OutputSize>(&output)) {
      return size(number->size);
    }
    return "none";
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string to_text(const SizeEntry& entry) {
  const std::string name = entry.name.empty() ? "" : "  (" + entry.name + ")";
  const std::string left = size(entry.left);
  const std::string right = size(entry.right);
  switch (entry.source) {
    case SizeEntry::Source::kInputExtent:
      return "input " + std::to_string(entry.input) + " axis " + std::to_string(entry.axis) + name;
    case SizeEntry::Source::kInputInteger:
      return "input " + std::to_string(entry.input) + name;
    case SizeEntry::Source::kAdd:
      return left + " + " + right + name;
    case SizeEntry::Source::kMul:
      return left + " * " + right + name;
    case SizeEntry::Source::kFloorDiv:
      return left + " // " + right + name;
    case SizeEntry::Source::kMod:
      return left + " % " + right + name;
    case SizeEntry::Source::kMin:
      return "min(" + left + ", " + right + ")" + name;
    case SizeEntry::Source::kMax:
      return "max(" + left + ", " + right + ")" + name;
  }
  return "?";
}

std::string to_text(const Program& program) { return Writer(program).write(); }

std::string_view fate_name(Fate fate) {
  switch (fate) {
    case Fate::kLaunched:
      return "launched";
    case Fate::kFusedAway:
      return "fused";
    case Fate::kLibrary:
      return "library";
    case Fate::kCustom:
      return "custom";
    case Fate::kView:
      return "view";
    case Fate::kPacked:
      return "packed";
    case Fate::kDispatchedOnDevice:
      return "dispatched on device";
    case Fate::kDispatchedOnHost:
      return "dispatched on host";
  }
  return "unknown";
}

}  // namespace tessiq::program
