// From the number of an instruction to names, by its kind.
#include "profiling/label.h"

namespace tessiq::profiling {
namespace {

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::kNone:
      return "copy";
    case Direction::kToDevice:
      return "to device";
    case Direction::kToHost:
      return "to host";
    case Direction::kBetweenDevices:
      return "between devices";
  }
  return "copy";
}

class Namer {
 public:
  explicit Namer(const program::Program& program) : program_(program) {}

  Label operator()(const program::Move& move) const {
    const bool to_host = program_.slots[static_cast<size_t>(move.target)].place == program::Place::kHost;
    return {value(move.target), std::string(direction_name(to_host ? Direction::kToHost : Direction::kToDevice)), {}};
  }
  Label operator()(const program::Launch& launch) const {
    const emit::LoopKernel& kernel = program_.kernels[static_cast<size_t>(launch.kernel)];
    Label label{kernel.name, kernel.is_reduction() ? "reduction" : "loop", {}};
    for (const emit::LoopStep& step : kernel.steps) {
      label.covers.push_back(step.value);
    }
    return label;
  }
  Label operator()(const program::Matmul& matmul) const {
    return {value(matmul.target), "matmul", {value(matmul.target)}};
  }
  Label operator()(const program::Convolution& convolution) const { return dispatched(convolution.otherwise); }
  Label operator()(const program::Custom& custom) const { return dispatched(custom.otherwise); }
  Label operator()(const program::Pack& pack) const { return {value(pack.target), "pack", {value(pack.target)}}; }
  Label operator()(const program::Dispatch& dispatch) const { return dispatched(dispatch); }
  // Metadata only: never a region of their own.
  Label operator()(const program::View& view) const { return {value(view.target), "view", {}}; }
  Label operator()(const program::Free&) const { return {"", "free", {}}; }

 private:
  std::string value(program::Slot slot) const {
    return slot == program::kNoSlot ? "" : program_.slots[static_cast<size_t>(slot)].value;
  }
  Label dispatched(const program::Dispatch& dispatch) const {
    Label label{"", dispatch.op, {}};
    for (program::Slot target : dispatch.targets) {
      if (target != program::kNoSlot) {
        label.covers.push_back(value(target));
      }
    }
    label.name = label.covers.empty() ? dispatch.op : label.covers.front();
    return label;
  }

  const program::Program& program_;
};

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kCall:
      return "call";
    case Kind::kKernel:
      return "kernel";
    case Kind::kInterpreted:
      return "interpreted";
    case Kind::kTransfer:
      return "transfer";
  }
  return "call";
}

Label label(const CallRecords& records, const Region& region) {
  const Callee& callee = records.calls[static_cast<size_t>(region.call)];
  if (region.kind == Kind::kCall) {
    return {callee.name, "call", {}};
  }
  if (region.instruction >= 0) {
    return std::visit(Namer(*callee.program), callee.program->instructions[static_cast<size_t>(region.instruction)]);
  }
  // A copy that something made on its own: named for what made it.
  Label around = region.parent >= 0 ? label(records, records.regions[static_cast<size_t>(region.parent)]) : Label{};
  return {around.name, std::string(direction_name(region.direction)), {}};
}

std::string range_text(const CallRecords& records, const Region& region) {
  const Label names = label(records, region);
  return "tessiq " + std::string(kind_name(region.kind)) + " " + names.name +
         (region.kind == Kind::kCall ? "" : " (" + names.operation + ")");
}

}  // namespace tessiq::profiling
