// The flat program a compiled graph becomes: what a call does, in order, with nothing left to decide.
//
// Decides the instructions, the slots they work on, and where every size of a call comes from. Holds names, never
// pointers into the graph it came from, so it outlives the graph. Leaves to the executor the tensors, and to codegen
// the loadable form of the kernels it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/convolution.h"
#include "analysis/memory_plan.h"
#include "codegen/emit/loop_kernel.h"
#include "ir/attribute.h"
#include "ir/element_type.h"

namespace tessiq::program {

// A number known when the program is built, or an entry of the size table.
struct SizeRef {
  bool is_constant = true;
  int64_t value = 0;  // the number, or the index of the entry
  static SizeRef constant(int64_t number) { return {true, number}; }
  static SizeRef entry(int64_t index) { return {false, index}; }
  friend bool operator==(const SizeRef&, const SizeRef&) = default;
};

// One entry of the size table. All of them are evaluated in order, once a call.
struct SizeEntry {
  enum class Source { kInputExtent, kInputInteger, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };
  Source source = Source::kInputExtent;
  int input = 0;  // kInputExtent, kInputInteger: position among the call's arguments
  int axis = 0;   // kInputExtent
  SizeRef left;   // the others
  SizeRef right;
  std::string name;  // the symbol it is the value of, empty for a step on the way to one
};

enum class Place : uint8_t { kHost, kDevice };

using Slot = int32_t;
inline constexpr Slot kNoSlot = -1;

// What a slot holds while it is alive: exactly this type, sizes and strides, on this side. Kernels rely on it.
struct SlotInfo {
  std::string value;  // IR value name
  Place place = Place::kHost;
  ir::ElementType element = ir::ElementType::kFloat32;
  std::vector<SizeRef> sizes;
  std::vector<SizeRef> strides;
  int32_t buffer = -1;  // index into Arena::buffers; -1 for memory of its own
};

// Copies a tensor to the other side. `input` is the call argument it copies, -1 for a value computed in the call; the
// device copy of an argument is kept between calls while the argument has not changed.
struct Move {
  Slot source = kNoSlot;
  Slot target = kNoSlot;
  int input = -1;
};
// Launches a generated loop into freshly allocated outputs.
struct Launch {
  int kernel = 0;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  std::vector<SizeRef> sizes;  // as LoopKernel::size_arguments orders them
  SizeRef element_count;
};
// out = alpha * a @ b + beta * addend, two- or three-dimensional; addend broadcasts to out.
struct Matmul {
  Slot a = kNoSlot;
  Slot b = kNoSlot;
  Slot addend = kNoSlot;  // kNoSlot: no addend
  Slot target = kNoSlot;
  double alpha = 1;
  double beta = 1;
};
// Metadata over the same storage: `target`'s sizes and strides, starting `offset` elements after `source` does.
struct View {
  Slot source = kNoSlot;
  Slot target = kNoSlot;
  SizeRef offset;
};
// Copies into `target`'s own layout, on the same side.
struct Pack {
  Slot source = kNoSlot;
  Slot target = kNoSlot;
};

struct SlotList {
  std::vector<Slot> slots;  // kNoSlot: None
};
using Argument = std::variant<ir::None, bool, int64_t, double, std::string, SizeRef, std::vector<SizeRef>,
                              std::vector<double>, Slot, SlotList>;
// int64_t and Slot are different alternatives because Slot is 32 bits wide.

// Calls one PyTorch operator through the dispatcher. Arguments not named have the schema's default.
struct Dispatch {
  std::string op;  // "aten.sum.dim_IntList"
  std::vector<Argument> positional;
  std::vector<std::pair<std::string, Argument>> keywords;
  std::vector<Slot> targets;  // kNoSlot for a result nothing reads
  Place place = Place::kHost;
  // A result may share memory with an operand, or the operator may hold on to one after it has returned.
  bool may_keep_operands = true;
};
// A convolution without a bias, or the gradients of one, through a library. Its tensors have their channels in one
// order, as analysis::channel_order says.
struct Convolution {
  analysis::Convolution numbers;
  Slot input = kNoSlot;
  Slot weight = kNoSlot;
  Slot gradient = kNoSlot;  // backward: the output's
  // Forward: the output. Backward: the gradients of input and weight; kNoSlot for one that nobody asked for.
  std::vector<Slot> targets;
  Dispatch otherwise;  // the same work as PyTorch's operator, for a device without a library and for what one refuses
};
// A custom operation's kernel, where its launch function takes the call. Targets are allocated before it runs.
struct Custom {
  Dispatch otherwise;  // the operation through the dispatcher, for every other call
};
// Drops slots nothing reads any more, so that the allocator can reuse their memory.
struct Free {
  std::vector<Slot> slots;
};

using Instruction = std::variant<Move, Launch, Matmul, Convolution, Custom, View, Pack, Dispatch, Free>;

// The operator call that an instruction is, or may come down to; null where there is none.
inline const Dispatch* dispatch_in(const Instruction& instruction) {
  if (const auto* convolution = std::get_if<Convolution>(&instruction)) {
    return &convolution->otherwise;
  }
  const auto* custom = std::get_if<Custom>(&instruction);
  return custom != nullptr ? &custom->otherwise : std::get_if<Dispatch>(&instruction);
}

struct InputSpec {
  std::string name;
  // kNoSlot for an integer argument, or a tensor that nothing reads.
  Slot slot = kNoSlot;
  bool is_tensor = true;
};

// One position of the tuple the caller gets back.
struct OutputNone {};
struct OutputSlot {
  Slot slot = kNoSlot;
};
struct OutputSize {
  SizeRef size;
};
using Output = std::variant<OutputNone, OutputSlot, OutputSize>;

// What became of one operation of the imported graph, for reports and tests.
enum class Fate : uint8_t {
  kLaunched,
  kFusedAway,
  kLibrary,
  kCustom,
  kView,
  kPacked,
  kDispatchedOnDevice,
  kDispatchedOnHost
};

struct NodeFate {
  std::string node;
  std::string op;
  Fate fate = Fate::kDispatchedOnHost;
  std::string kernel;  // kLaunched, kFusedAway, kCustom: the value its kernel ends in
  bool moves_inputs = false;
  std::string reason;    // "id: text" where no kernel of ours runs it; the id is a claim's or placement's
  std::string location;  // the user's file and line, where known
};

// Part of the arena: `slot` has it from the instruction that writes it to the last that reads it or a view of it.
struct ArenaBuffer {
  Slot slot = kNoSlot;
  int64_t first = 0;
  int64_t last = 0;
};

// The one block of device memory that the intermediate results of a call share.
struct Arena {
  std::vector<ArenaBuffer> buffers;
  std::optional<analysis::MemoryPlan> plan;  // absent where a buffer's size is known only at a call
};

struct Program {
  std::string name;
  std::vector<InputSpec> inputs;
  std::vector<SlotInfo> slots;
  std::vector<SizeEntry> sizes;
  std::vector<emit::LoopKernel> kernels;
  std::vector<Instruction> instructions;
  Arena arena;
  std::vector<Output> outputs;
  std::vector<NodeFate> fates;  // in graph order
};

// The whole program as text, the same for the same program.
std::string to_text(const Program& program);
// Where one entry of the size table comes from: "input 0 axis 1  (s0)", "#0 * 2".
std::string to_text(const SizeEntry& entry);
std::string_view fate_name(Fate fate);

}  // namespace tessiq::program
