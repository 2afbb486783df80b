// Where each slot is dropped: right after the last instruction that reads it.
//
// A view keeps its source's memory alive by itself, so a source may be dropped before its views.
#include <algorithm>

#include "program/arena.h"
#include "program/lowering.h"

namespace tessiq::program {
namespace {

void add_slot(std::vector<Slot>& slots, Slot slot) {
  if (slot != kNoSlot) {
    slots.push_back(slot);
  }
}

void add_argument(std::vector<Slot>& slots, const Argument& argument) {
  if (const Slot* slot = std::get_if<Slot>(&argument)) {
    add_slot(slots, *slot);
  } else if (const auto* list = std::get_if<SlotList>(&argument)) {
    for (Slot member : list->slots) {
      add_slot(slots, member);
    }
  }
}

struct SlotsOf {
  std::vector<Slot>& slots;

  void operator()(const Move& move) const { slots = {move.source, move.target}; }
  void operator()(const View& view) const { slots = {view.source, view.target}; }
  void operator()(const Pack& pack) const { slots = {pack.source, pack.target}; }
  void operator()(const Launch& launch) const {
    slots = launch.inputs;
    slots.insert(slots.end(), launch.outputs.begin(), launch.outputs.end());
  }
  void operator()(const Matmul& matmul) const {
    slots = {matmul.a, matmul.b, matmul.target};
    add_slot(slots, matmul.addend);
  }
  void operator()(const Dispatch& dispatch) const {
    for (const Argument& argument : dispatch.positional) {
      add_argument(slots, argument);
    }
    for (const auto& [name, argument] : dispatch.keywords) {
      add_argument(slots, argument);
    }
    for (Slot target : dispatch.targets) {
      add_slot(slots, target);
    }
  }
  void operator()(const Convolution& convolution) const { (*this)(convolution.otherwise); }
  void operator()(const Custom& custom) const { (*this)(custom.otherwise); }
  void operator()(const Free&) const {}
};

}  // namespace

std::vector<Slot> slots_of(const Instruction& instruction) {
  std::vector<Slot> slots;
  std::visit(SlotsOf{slots}, instruction);
  return slots;
}

void Lowering::insert_frees() {
  constexpr size_t kNever = static_cast<size_t>(-1);
  std::vector<size_t> last_use(program_.slots.size(), kNever);
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    for (Slot slot : slots_of(program_.instructions[i])) {
      last_use[static_cast<size_t>(slot)] = i;
    }
  }
  for (const Output& output : program_.outputs) {
    if (const auto* slot = std::get_if<OutputSlot>(&output)) {
      last_use[static_cast<size_t>(slot->slot)] = kNever;
    }
  }
  std::vector<std::vector<Slot>> freed_after(program_.instructions.size());
  for (size_t slot = 0; slot < last_use.size(); ++slot) {
    if (last_use[slot] != kNever) {
      freed_after[last_use[slot]].push_back(static_cast<Slot>(slot));
    }
  }
  std::vector<Instruction> instructions;
  instructions.reserve(program_.instructions.size() * 2);
  for (size_t i = 0; i < program_.instructions.size(); ++i) {
    instructions.push_back(std::move(program_.instructions[i]));
    if (!freed_after[i].empty()) {
      instructions.emplace_back(Free{std::move(freed_after[i])});
    }
  }
  program_.instructions = std::move(instructions);
}

}  // namespace tessiq::program
