// One walk over the instructions. A view counts as a use of what it views, so memory lives as long as its last view.
#include "program/arena.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "program/size_table.h"
#include "support/int_math.h"

namespace tessiq::program {
namespace {

class ArenaUsers {
 public:
  explicit ArenaUsers(const Program& program)
      : program_(program),
        owner_(program.slots.size()),
        first_(program.slots.size(), kNever),
        last_(program.slots.size(), kNever),
        leaves_(program.slots.size(), false) {
    std::iota(owner_.begin(), owner_.end(), Slot{0});
  }

  std::vector<ArenaBuffer> run() {
    for (; position_ < static_cast<int64_t>(program_.instructions.size()); ++position_) {
      const Instruction& instruction = program_.instructions[static_cast<size_t>(position_)];
      if (const auto* view = std::get_if<View>(&instruction)) {
        owner_[index(view->target)] = owner_of(view->source);
      }
      for (const Slot slot : slots_of(instruction)) {
        last_[index(owner_of(slot))] = position_;
      }
      std::visit(*this, instruction);
    }
    for (const Output& output : program_.outputs) {
      if (const auto* value = std::get_if<OutputSlot>(&output)) {
        leaves_[index(owner_of(value->slot))] = true;
      }
    }
    std::vector<ArenaBuffer> buffers;
    for (size_t slot = 0; slot < first_.size(); ++slot) {
      if (first_[slot] != kNever && !leaves_[slot]) {
        buffers.push_back({static_cast<Slot>(slot), first_[slot], last_[slot]});
      }
    }
    return buffers;
  }

  void operator()(const Launch& launch) {
    for (const Slot slot : launch.outputs) {
      written(slot);
    }
  }
  void operator()(const Matmul& matmul) { written(matmul.target); }
  void operator()(const Convolution& convolution) {
    for (const Slot slot : convolution.targets) {
      if (slot != kNoSlot) {
        written(slot);
      }
    }
  }
  void operator()(const Custom& custom) {
    for (const Slot slot : custom.otherwise.targets) {
      if (slot != kNoSlot) {
        written(slot);
      }
    }
  }
  void operator()(const Pack& pack) { written(pack.target); }
  void operator()(const Dispatch& dispatch) {
    if (!dispatch.may_keep_operands) {
      return;
    }
    for (const Slot slot : slots_of(dispatch)) {
      leaves_[index(owner_of(slot))] = true;
    }
  }
  void operator()(const Move&) {}
  void operator()(const View&) {}
  void operator()(const Free&) {}

 private:
  static constexpr int64_t kNever = -1;

  static size_t index(Slot slot) { return static_cast<size_t>(slot); }
  Slot owner_of(Slot slot) const { return owner_[index(slot)]; }
  void written(Slot slot) {
    if (program_.slots[index(slot)].place == Place::kDevice) {
      first_[index(slot)] = position_;
    }
  }

  const Program& program_;
  int64_t position_ = 0;
  std::vector<Slot> owner_;  // of the memory a slot lies in
  std::vector<int64_t> first_;
  std::vector<int64_t> last_;
  std::vector<bool> leaves_;
};

bool is_constant(const SlotInfo& slot) {
  const auto constant = [](SizeRef size) { return size.is_constant; };
  return std::all_of(slot.sizes.begin(), slot.sizes.end(), constant) &&
         std::all_of(slot.strides.begin(), slot.strides.end(), constant);
}

}  // namespace

Result<int64_t> slot_bytes(const SlotInfo& slot, const std::vector<int64_t>& sizes) {
  std::optional<int64_t> elements = 1;
  for (size_t axis = 0; axis < slot.sizes.size(); ++axis) {
    const int64_t extent = resolve(slot.sizes[axis], sizes);
    if (extent == 0) {
      return 0;
    }
    const auto reach = checked_mul(extent - 1, resolve(slot.strides[axis], sizes));
    elements = elements && reach ? checked_add(*elements, *reach) : std::nullopt;
  }
  const auto bytes = elements ? checked_mul(*elements, ir::element_size(slot.element)) : std::nullopt;
  if (!bytes) {
    return invalid_argument("the size of %" + slot.value + " in bytes does not fit in 64 bits");
  }
  return *bytes;
}

Result<analysis::MemoryPlan> plan_arena(const Program& program, const std::vector<int64_t>& sizes) {
  std::vector<analysis::BufferRequest> requests;
  requests.reserve(program.arena.buffers.size());
  for (const ArenaBuffer& buffer : program.arena.buffers) {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t bytes, slot_bytes(program.slots[static_cast<size_t>(buffer.slot)], sizes));
    requests.push_back({bytes, buffer.first, buffer.last});
  }
  return analysis::plan_memory(requests);
}

Result<void> assign_arena(Program& program) {
  program.arena.buffers = ArenaUsers(program).run();
  bool constant = true;
  for (size_t i = 0; i < program.arena.buffers.size(); ++i) {
    SlotInfo& slot = program.slots[static_cast<size_t>(program.arena.buffers[i].slot)];
    slot.buffer = static_cast<int32_t>(i);
    constant = constant && is_constant(slot);
  }
  if (constant) {
    TESSIQ_ASSIGN_OR_RETURN(program.arena.plan, plan_arena(program, {}));
  }
  return {};
}

}  // namespace tessiq::program
