// What a report asks of a compiled graph beyond what running it needs: sizes of a call, instructions and their bytes,
// the arena, kernels as compiled. Everything is read from the recipe.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analysis/claim.h"
#include "analysis/decisions.h"
#include "bindings/bindings.h"
#include "bindings/exceptions.h"
#include "codegen/emit/loop_kernel.h"
#include "program/arena.h"
#include "program/size_table.h"
#include "program/traffic.h"
#include "pytorch/device/identity.h"
#include "pytorch/executor/compiled_graph.h"

namespace py = pybind11;

namespace tessiq::bindings {
namespace {

using pytorch::CompiledGraph;
using Sizes = std::vector<int64_t>;

// What a call passes at each position: the shape of a tensor, or an integer.
using Argument = std::variant<int64_t, Sizes>;

struct ArgumentSizes : program::CallSizes {
  explicit ArgumentSizes(const std::vector<Argument>& given) : arguments(given) {}
  int64_t extent(int input, int axis) const override {
    const auto* shape = std::get_if<Sizes>(&at(input));
    if (shape == nullptr || static_cast<size_t>(axis) >= shape->size()) {
      throw ErrorException(invalid_argument("argument " + std::to_string(input) + " has no axis " +
                                            std::to_string(axis) + " that the program reads a size from"));
    }
    return (*shape)[static_cast<size_t>(axis)];
  }
  int64_t integer(int input) const override {
    const auto* value = std::get_if<int64_t>(&at(input));
    if (value == nullptr) {
      throw ErrorException(invalid_argument("argument " + std::to_string(input) + " is a tensor, not an integer"));
    }
    return *value;
  }
  const Argument& at(int input) const {
    if (static_cast<size_t>(input) >= arguments.size()) {
      throw ErrorException(invalid_argument("the program reads argument " + std::to_string(input) + " of " +
                                            std::to_string(arguments.size())));
    }
    return arguments[static_cast<size_t>(input)];
  }
  const std::vector<Argument>& arguments;
};

const program::Program& program_of(const CompiledGraph& graph, const Sizes& sizes) {
  const program::Program& program = graph.recipe->program;
  if (sizes.size() != program.sizes.size()) {
    throw ErrorException(invalid_argument("the program has " + std::to_string(program.sizes.size()) + " sizes, not " +
                                          std::to_string(sizes.size()) + ": pass what size_values gave"));
  }
  return program;
}

Sizes size_values(const CompiledGraph& graph, const std::vector<Argument>& arguments) {
  Sizes values;
  const Result<void> done = program::evaluate(graph.recipe->program.sizes, ArgumentSizes(arguments), values);
  if (!done.ok()) {
    throw ErrorException(done.error());
  }
  return values;
}

py::list symbols(const CompiledGraph& graph, const Sizes& sizes) {
  py::list list;
  const program::Program& program = program_of(graph, sizes);
  for (size_t i = 0; i < program.sizes.size(); ++i) {
    py::dict entry;
    entry["name"] = program.sizes[i].name;
    entry["source"] = program::to_text(program.sizes[i]);
    entry["value"] = sizes[i];
    list.append(entry);
  }
  return list;
}

std::string place_name(program::Place place) { return place == program::Place::kDevice ? "device" : "host"; }

py::list slots(const CompiledGraph& graph, const Sizes& sizes) {
  py::list list;
  for (const program::SlotInfo& slot : program_of(graph, sizes).slots) {
    py::dict entry;
    entry["value"] = slot.value;
    entry["place"] = place_name(slot.place);
    entry["symbolic"] =
        std::any_of(slot.sizes.begin(), slot.sizes.end(), [](program::SizeRef size) { return !size.is_constant; });
    entry["element"] = std::string(ir::element_type_name(slot.element));
    entry["bytes"] = value_or_throw(program::slot_bytes(slot, sizes));
    list.append(entry);
  }
  return list;
}

py::list instructions(const CompiledGraph& graph, const Sizes& sizes) {
  py::list list;
  for (const program::Traffic& one : value_or_throw(program::traffic(program_of(graph, sizes), sizes))) {
    py::dict entry;
    entry["kind"] = std::string(one.kind);
    entry["name"] = one.name;
    entry["place"] = place_name(one.place);
    entry["reads"] = one.reads;
    entry["writes"] = one.writes;
    entry["bytes_read"] = one.bytes_read;
    entry["bytes_written"] = one.bytes_written;
    entry["operations"] = one.operations;
    list.append(entry);
  }
  return list;
}

std::vector<program::Slot> output_slots(const CompiledGraph& graph) {
  std::vector<program::Slot> slots;
  for (const program::Output& output : graph.recipe->program.outputs) {
    if (const auto* value = std::get_if<program::OutputSlot>(&output)) {
      slots.push_back(value->slot);
    }
  }
  return slots;
}

// Slots of weights, whose device copies later calls find again.
std::vector<program::Slot> kept_slots(const CompiledGraph& graph) {
  const pytorch::Recipe& recipe = *graph.recipe;
  std::vector<program::Slot> slots;
  for (size_t i = 0; i < recipe.program.inputs.size(); ++i) {
    if (i < recipe.kept_inputs.size() && recipe.kept_inputs[i] && recipe.program.inputs[i].slot != program::kNoSlot) {
      slots.push_back(recipe.program.inputs[i].slot);
    }
  }
  return slots;
}

py::dict arena(const CompiledGraph& graph, const Sizes& sizes) {
  const program::Program& program = program_of(graph, sizes);
  const auto plan = value_or_throw(program::plan_arena(program, sizes));
  py::list buffers;
  for (size_t i = 0; i < program.arena.buffers.size(); ++i) {
    const program::ArenaBuffer& buffer = program.arena.buffers[i];
    py::dict entry;
    entry["slot"] = buffer.slot;
    entry["first"] = buffer.first;
    entry["last"] = buffer.last;
    entry["offset"] = plan.offsets[i];
    buffers.append(entry);
  }
  py::dict result;
  result["bytes"] = plan.arena_bytes;
  result["peak_bytes"] = plan.peak_bytes;
  result["buffers"] = buffers;
  return result;
}

py::list entry_facts(const codegen::LoadedKernel& kernel) {
  py::list list;
  for (const codegen::EntryFacts& facts : value_or_throw(kernel.facts())) {
    py::dict entry;
    entry["entry"] = facts.entry;
    entry["threads"] = facts.threads;
    entry["registers"] = facts.registers;
    entry["spilled_bytes"] = facts.spilled_bytes;
    entry["shared_bytes"] = facts.shared_bytes;
    entry["blocks_per_processor"] = facts.blocks_per_processor;
    list.append(entry);
  }
  return list;
}

py::list kernel_code(const CompiledGraph& graph) {
  const bool is_cuda = pytorch::device_at(graph.recipe->device).kind() == DeviceKind::kCuda;
  py::list list;
  for (size_t i = 0; i < graph.recipe->kernels.size(); ++i) {
    const emit::LoopKernel& kernel = graph.recipe->program.kernels[i];
    py::dict entry;
    entry["entries"] = entry_facts(*graph.recipe->kernels[i]);
    // What was compiled names values by position; the same text with the graph's names is for readers.
    entry["body"] = value_or_throw(is_cuda ? emit::emit_cuda(kernel) : emit::emit_host(kernel)).body;
    list.append(entry);
  }
  return list;
}

py::list claim_reasons() {
  py::list list;
  for (const analysis::ClaimReason& reason : analysis::claim_reasons()) {
    list.append(py::make_tuple(std::string(reason.id), std::string(reason.meaning)));
  }
  list.append(py::make_tuple(std::string(analysis::kNothingToCompute), "supported, and left where its readers are"));
  list.append(
      py::make_tuple(std::string(analysis::kNotWorthCrossing), "supported, and worth less than the copies it needs"));
  return list;
}

}  // namespace

void bind_report(py::module_& module) {
  module.def("size_values", &size_values, py::arg("graph"), py::arg("arguments"));
  module.def("symbols", &symbols, py::arg("graph"), py::arg("sizes"));
  module.def("slots", &slots, py::arg("graph"), py::arg("sizes"));
  module.def("instructions", &instructions, py::arg("graph"), py::arg("sizes"));
  module.def("output_slots", &output_slots, py::arg("graph"));
  module.def("kept_slots", &kept_slots, py::arg("graph"));
  module.def("arena", &arena, py::arg("graph"), py::arg("sizes"));
  module.def("kernel_code", &kernel_code, py::arg("graph"));
  module.def("claim_reasons", &claim_reasons);
}

}  // namespace tessiq::bindings
