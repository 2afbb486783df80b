// Which results of a call share one block of memory, its arena, and for how long each of them needs its part.
//
// Decides who may live there. Leaves the offsets to analysis/memory_plan.h and the memory to the executor.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/memory_plan.h"
#include "program/program.h"
#include "support/result.h"

namespace tessiq::program {

// The slots an instruction reads or writes.
std::vector<Slot> slots_of(const Instruction& instruction);

// Gives the arena's buffers to a program whose frees are placed. Results that a launch, a library call or a pack writes
// on the device live there, unless they leave the call, as themselves or as a view, or an operator that may hold on to
// its operands reads them.
Result<void> assign_arena(Program& program);

// From the slot's first element to its last, in bytes. kInvalidArgument where that does not fit in 64 bits.
Result<int64_t> slot_bytes(const SlotInfo& slot, const std::vector<int64_t>& sizes);

// Where each buffer lies, given the values of the size table.
Result<analysis::MemoryPlan> plan_arena(const Program& program, const std::vector<int64_t>& sizes);

}  // namespace tessiq::program
