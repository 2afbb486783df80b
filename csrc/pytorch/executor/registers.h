// The tensors of one call, by slot. A view of a known tensor stays a storage and an offset until something needs a
// tensor object: kernels never do.
//
// Decides that a slot always holds exactly the sizes and strides the program says, so that nothing later has to ask.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory_plan.h"
#include "program/program.h"
#include "runtime/device.h"

namespace tessiq::pytorch {

at::ScalarType scalar_type_of(ir::ElementType element);

// Where tensors of each side live.
struct Places {
  c10::Device host{c10::DeviceType::CPU};
  c10::Device device{c10::DeviceType::CPU};
  c10::Device of(program::Place place) const { return place == program::Place::kHost ? host : device; }
};

class Registers {
 public:
  // `sizes` are this call's values of the size table, `plan` where the arena's buffers lie; without one every slot has
  // memory of its own. All of them outlive this object.
  Registers(const program::Program& program, const Places& places, const std::vector<int64_t>& sizes,
            const analysis::MemoryPlan* plan);

  // Takes a tensor that something else made. One laid out otherwise than traced is copied into the traced layout, as is
  // one that lies in the arena; one of other sizes or element type raises, naming `maker`.
  void set(program::Slot slot, at::Tensor tensor, const char* maker);
  void set_view(program::Slot target, program::Slot source, int64_t offset);
  // Memory of the slot's own layout, contents not set: its part of the arena, or a block.
  void allocate(program::Slot slot);
  void free(program::Slot slot) { registers_[static_cast<size_t>(slot)] = {}; }
  // The bytes of the arena that hold a buffer; empty where the buffer is.
  std::span<std::byte> buffer_bytes(size_t buffer) const;

  const at::Tensor& tensor(program::Slot slot);
  // Where element 0 lies.
  void* data(program::Slot slot) const;
  std::span<const int64_t> sizes(program::Slot slot) const { return layout(slot).sizes; }
  std::span<const int64_t> strides(program::Slot slot) const { return layout(slot).strides; }
  // The slot's bytes as a CPU tensor; for the reference device, whose memory is the host's.
  at::Tensor host_alias(program::Slot slot) const;

 private:
  struct Register {
    c10::Storage storage;
    int64_t offset = 0;  // elements
    at::Tensor tensor;   // undefined until asked for
  };
  struct Layout {
    std::span<const int64_t> sizes;
    std::span<const int64_t> strides;
  };
  Layout layout(program::Slot slot) const;
  bool lies_as_traced(const at::Tensor& tensor, const Layout& layout) const;
  bool lies_in_arena(const at::Tensor& tensor) const;
  c10::Storage part_of_arena(int64_t offset, size_t bytes) const;

  const program::Program& program_;
  const Places& places_;
  const std::vector<int64_t>& call_sizes_;
  const analysis::MemoryPlan* plan_;
  c10::Storage arena_;
  std::vector<Register> registers_;
  // Sizes then strides of every slot, resolved for this call; slot i starts at starts_[i].
  std::vector<int64_t> numbers_;
  std::vector<size_t> starts_;
};

}  // namespace tessiq::pytorch
