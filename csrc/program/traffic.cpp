#include "program/traffic.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "codegen/emit/loop_sizes.h"
#include "program/arena.h"
#include "program/size_table.h"

namespace tessiq::program {
namespace {

class Counter {
 public:
  Counter(const Program& program, const std::vector<int64_t>& sizes) : program_(program), sizes_(sizes) {}

  Traffic operator()(const Move& move) const { return touching("move", {move.source}, {move.target}); }
  Traffic operator()(const Launch& launch) const {
    Traffic result = touching("launch", launch.inputs, launch.outputs);
    result.name = program_.kernels[static_cast<size_t>(launch.kernel)].name;
    return result;
  }
  Traffic operator()(const Matmul& matmul) const {
    Traffic result = touching("matmul", {matmul.a, matmul.b}, {matmul.target});
    result.name = slot(matmul.target).value;
    if (matmul.addend != kNoSlot) {
      result.reads.push_back(matmul.addend);
    }
    const int64_t inner = resolve(slot(matmul.a).sizes.back(), sizes_);
    result.operations = 2.0 * elements(matmul.target) * static_cast<double>(inner);
    return result;
  }
  Traffic operator()(const Convolution& convolution) const {
    Traffic result = (*this)(convolution.otherwise);
    result.kind = "convolution";
    result.place = Place::kDevice;
    // Every weight meets every position of the side that has one product a position.
    const Slot output = convolution.gradient != kNoSlot ? convolution.gradient : convolution.targets.front();
    const Slot positions = convolution.numbers.transposed ? convolution.input : output;
    const double channels = static_cast<double>(resolve(slot(convolution.weight).sizes.front(), sizes_));
    const double once = channels == 0 ? 0 : 2.0 * elements(positions) * elements(convolution.weight) / channels;
    result.operations = once * static_cast<double>(result.writes.size());
    return result;
  }
  Traffic operator()(const Custom& custom) const {
    Traffic result = (*this)(custom.otherwise);
    result.kind = "custom";
    result.place = Place::kDevice;
    return result;
  }
  Traffic operator()(const View& view) const { return touching("view", {view.source}, {view.target}); }
  Traffic operator()(const Pack& pack) const { return touching("pack", {pack.source}, {pack.target}); }
  Traffic operator()(const Dispatch& dispatch) const {
    Traffic result;
    result.kind = "dispatch";
    result.name = dispatch.op;
    result.place = dispatch.place;
    std::copy_if(dispatch.targets.begin(), dispatch.targets.end(), std::back_inserter(result.writes),
                 [](Slot target) { return target != kNoSlot; });
    for (const Slot one : slots_of(dispatch)) {
      if (std::find(result.writes.begin(), result.writes.end(), one) == result.writes.end()) {
        result.reads.push_back(one);
      }
    }
    return result;
  }
  Traffic operator()(const Free& free) const { return touching("free", free.slots, {}); }

  Result<int64_t> bytes(const std::vector<Slot>& slots) const {
    int64_t total = 0;
    for (auto one = slots.begin(); one != slots.end(); ++one) {
      if (std::find(slots.begin(), one, *one) == one) {
        TESSIQ_ASSIGN_OR_RETURN(const int64_t bytes, bytes_of(*one));
        total += bytes;
      }
    }
    return total;
  }

  // Of the inputs of a launch that read rows of a table: what other rows have.
  Result<int64_t> bytes_passed_over(const Launch& launch) const {
    const emit::LoopKernel& kernel = program_.kernels[static_cast<size_t>(launch.kernel)];
    const emit::LoopSizes loop = emit::LoopSizes::of(kernel);
    std::vector<int64_t> numbers;
    for (const SizeRef size : launch.sizes) {
      numbers.push_back(resolve(size, sizes_));
    }
    std::map<Slot, double> read;
    for (size_t input = 0; input < kernel.inputs.size(); ++input) {
      double count = kernel.inputs[input].lookups.empty() ? std::numeric_limits<double>::infinity() : 1;
      for (size_t axis = 0; axis < loop.extents.size(); ++axis) {
        const bool steps = !loop.strides[input][axis].is(0) || loop.looks_up_along(input, axis);
        count *= steps ? static_cast<double>(loop.extents[axis].value(numbers)) : 1;
      }
      read[launch.inputs[input]] += count * ir::element_size(kernel.inputs[input].element);
    }
    int64_t total = 0;
    for (const auto& [slot, bytes] : read) {
      TESSIQ_ASSIGN_OR_RETURN(const int64_t whole, bytes_of(slot));
      total += bytes < static_cast<double>(whole) ? whole - static_cast<int64_t>(bytes) : 0;
    }
    return total;
  }

 private:
  Result<int64_t> bytes_of(Slot index) const {
    TESSIQ_ASSIGN_OR_RETURN(const int64_t span, slot_bytes(slot(index), sizes_));
    // The gaps of a slice are not moved, and what is broadcast is moved once.
    const double dense = elements(index) * static_cast<double>(ir::element_size(slot(index).element));
    return static_cast<double>(span) <= dense ? span : static_cast<int64_t>(dense);
  }
  Traffic touching(std::string_view kind, std::vector<Slot> reads, std::vector<Slot> writes) const {
    Traffic result;
    result.kind = kind;
    result.place = writes.empty() ? Place::kDevice : slot(writes.front()).place;
    result.reads = std::move(reads);
    result.writes = std::move(writes);
    return result;
  }
  const SlotInfo& slot(Slot index) const { return program_.slots[static_cast<size_t>(index)]; }
  double elements(Slot index) const {
    double count = 1;
    for (const SizeRef size : slot(index).sizes) {
      count *= static_cast<double>(resolve(size, sizes_));
    }
    return count;
  }

  const Program& program_;
  const std::vector<int64_t>& sizes_;
};

}  // namespace

Result<std::vector<Traffic>> traffic(const Program& program, const std::vector<int64_t>& sizes) {
  const Counter counter(program, sizes);
  std::vector<Traffic> result;
  result.reserve(program.instructions.size());
  for (const Instruction& instruction : program.instructions) {
    Traffic one = std::visit(counter, instruction);
    if (one.kind != "view" && one.kind != "free") {
      TESSIQ_ASSIGN_OR_RETURN(one.bytes_read, counter.bytes(one.reads));
      TESSIQ_ASSIGN_OR_RETURN(one.bytes_written, counter.bytes(one.writes));
    }
    if (const auto* launch = std::get_if<Launch>(&instruction)) {
      TESSIQ_ASSIGN_OR_RETURN(const int64_t passed_over, counter.bytes_passed_over(*launch));
      one.bytes_read -= passed_over;
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace tessiq::program
