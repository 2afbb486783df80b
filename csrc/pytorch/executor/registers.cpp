// Layout checks, allocation, and tensor objects made on demand.
#include "pytorch/executor/registers.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

#include "program/arena.h"
#include "program/size_table.h"
#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"

namespace tessiq::pytorch {
namespace {

c10::DispatchKeySet keys_of(c10::Device device) {
  return c10::DispatchKeySet(device.is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::PrivateUse1);
}

c10::Allocator* allocator_of(c10::Device device) {
  return device.is_cpu() ? c10::GetCPUAllocator() : allocator_for(resolve(device));
}

c10::Storage fresh_storage(size_t bytes, c10::Allocator* allocator) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                            allocator->allocate(bytes), allocator, true));
}

void drop_reference(void* target) { c10::raw::intrusive_ptr::decref(static_cast<c10::intrusive_ptr_target*>(target)); }

std::string numbers_text(std::span<const int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[" + text + "]";
}

}  // namespace

at::ScalarType scalar_type_of(ir::ElementType element) {
  switch (element) {
    case ir::ElementType::kBool:
      return at::kBool;
    case ir::ElementType::kUInt8:
      return at::kByte;
    case ir::ElementType::kInt8:
      return at::kChar;
    case ir::ElementType::kInt16:
      return at::kShort;
    case ir::ElementType::kInt32:
      return at::kInt;
    case ir::ElementType::kInt64:
      return at::kLong;
    case ir::ElementType::kFloat16:
      return at::kHalf;
    case ir::ElementType::kBFloat16:
      return at::kBFloat16;
    case ir::ElementType::kFloat32:
      return at::kFloat;
    case ir::ElementType::kFloat64:
      return at::kDouble;
  }
  return at::kFloat;
}

Registers::Registers(const program::Program& program, const Places& places, const std::vector<int64_t>& sizes,
                     const analysis::MemoryPlan* plan)
    : program_(program), places_(places), call_sizes_(sizes), plan_(plan), registers_(program.slots.size()) {
  if (plan_ != nullptr && plan_->arena_bytes > 0) {
    arena_ = fresh_storage(static_cast<size_t>(plan_->arena_bytes), allocator_of(places.device));
  }
  starts_.reserve(program.slots.size());
  for (const program::SlotInfo& slot : program.slots) {
    starts_.push_back(numbers_.size());
    for (program::SizeRef size : slot.sizes) {
      numbers_.push_back(program::resolve(size, sizes));
    }
    for (program::SizeRef stride : slot.strides) {
      numbers_.push_back(program::resolve(stride, sizes));
    }
  }
}

Registers::Layout Registers::layout(program::Slot slot) const {
  const size_t rank = program_.slots[static_cast<size_t>(slot)].sizes.size();
  const int64_t* start = numbers_.data() + starts_[static_cast<size_t>(slot)];
  return {{start, rank}, {start + rank, rank}};
}

bool Registers::lies_as_traced(const at::Tensor& tensor, const Layout& layout) const {
  if (tensor.numel() == 0) {
    return true;
  }
  for (size_t axis = 0; axis < layout.sizes.size(); ++axis) {
    // The stride of an axis of one element is never used, and PyTorch gives it freely.
    if (layout.sizes[axis] != 1 && tensor.strides()[axis] != layout.strides[axis]) {
      return false;
    }
  }
  return true;
}

bool Registers::lies_in_arena(const at::Tensor& tensor) const {
  if (!arena_) {
    return false;
  }
  const auto* begin = static_cast<const std::byte*>(arena_.data());
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  return data >= begin && data < begin + arena_.nbytes();
}

// A storage of its own, so that an operator sees the same offsets as in memory of its own. It holds the arena alive.
c10::Storage Registers::part_of_arena(int64_t offset, size_t bytes) const {
  c10::intrusive_ptr_target* arena = arena_.unsafeGetStorageImpl();
  c10::raw::intrusive_ptr::incref(arena);
  void* data = static_cast<std::byte*>(arena_.mutable_data()) + offset;
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                            c10::DataPtr(data, arena, &drop_reference, places_.device),
                                                            nullptr, false));
}

std::span<std::byte> Registers::buffer_bytes(size_t buffer) const {
  const program::ArenaBuffer& part = program_.arena.buffers[buffer];
  const int64_t bytes =
      value_or_raise(program::slot_bytes(program_.slots[static_cast<size_t>(part.slot)], call_sizes_));
  if (bytes == 0) {
    return {};
  }
  return {static_cast<std::byte*>(arena_.mutable_data()) + plan_->offsets[buffer], static_cast<size_t>(bytes)};
}

void Registers::set(program::Slot slot, at::Tensor tensor, const char* maker) {
  const program::SlotInfo& info = program_.slots[static_cast<size_t>(slot)];
  const Layout traced = layout(slot);
  TORCH_CHECK(tensor.defined(), maker, " gave no tensor for %", info.value);
  TORCH_CHECK(tensor.scalar_type() == scalar_type_of(info.element) &&
                  tensor.sizes() == at::IntArrayRef(traced.sizes.data(), traced.sizes.size()),
              maker, " gave ", tensor.scalar_type(), numbers_text({tensor.sizes().data(), tensor.sizes().size()}),
              " for %", info.value, ", and the graph was compiled for ", scalar_type_of(info.element),
              numbers_text(traced.sizes));
  if (const c10::Device place = places_.of(info.place); tensor.device() != place) {
    // A scalar tensor on the CPU among the device's, or an operator that makes its result where it likes.
    tensor = tensor.to(place);
  }
  if (!lies_as_traced(tensor, traced) || lies_in_arena(tensor)) {
    at::Tensor copy =
        at::empty_strided(at::IntArrayRef(traced.sizes.data(), traced.sizes.size()),
                          at::IntArrayRef(traced.strides.data(), traced.strides.size()), tensor.options());
    copy.copy_(tensor);
    tensor = std::move(copy);
  }
  Register& target = registers_[static_cast<size_t>(slot)];
  target.storage = tensor.storage();
  target.offset = tensor.storage_offset();
  target.tensor = std::move(tensor);
}

void Registers::set_view(program::Slot target, program::Slot source, int64_t offset) {
  const Register& from = registers_[static_cast<size_t>(source)];
  registers_[static_cast<size_t>(target)] = {from.storage, from.offset + offset, {}};
}

void Registers::allocate(program::Slot slot) {
  const program::SlotInfo& info = program_.slots[static_cast<size_t>(slot)];
  const auto bytes = static_cast<size_t>(value_or_raise(program::slot_bytes(info, call_sizes_)));
  Register& target = registers_[static_cast<size_t>(slot)];
  target.storage = info.buffer >= 0 && plan_ != nullptr && bytes > 0
                       ? part_of_arena(plan_->offsets[static_cast<size_t>(info.buffer)], bytes)
                       : fresh_storage(bytes, allocator_of(places_.of(info.place)));
  target.offset = 0;
  target.tensor = at::Tensor();
}

const at::Tensor& Registers::tensor(program::Slot slot) {
  Register& entry = registers_[static_cast<size_t>(slot)];
  if (!entry.tensor.defined()) {
    const program::SlotInfo& info = program_.slots[static_cast<size_t>(slot)];
    const Layout layout = this->layout(slot);
    TORCH_INTERNAL_ASSERT(entry.storage, "slot of %", info.value, " is read before it is set");
    entry.tensor =
        at::detail::make_tensor<c10::TensorImpl>(c10::Storage(entry.storage), keys_of(places_.of(info.place)),
                                                 c10::scalarTypeToTypeMeta(scalar_type_of(info.element)));
    entry.tensor.unsafeGetTensorImpl()->set_sizes_and_strides(
        at::IntArrayRef(layout.sizes.data(), layout.sizes.size()),
        at::IntArrayRef(layout.strides.data(), layout.strides.size()), entry.offset);
  }
  return entry.tensor;
}

void* Registers::data(program::Slot slot) const {
  const Register& entry = registers_[static_cast<size_t>(slot)];
  char* base = static_cast<char*>(entry.storage.mutable_data());
  const int64_t width = ir::element_size(program_.slots[static_cast<size_t>(slot)].element);
  return base == nullptr ? nullptr : base + entry.offset * width;
}

at::Tensor Registers::host_alias(program::Slot slot) const {
  const Layout layout = this->layout(slot);
  const at::ScalarType type = scalar_type_of(program_.slots[static_cast<size_t>(slot)].element);
  return at::from_blob(data(slot), at::IntArrayRef(layout.sizes.data(), layout.sizes.size()),
                       at::IntArrayRef(layout.strides.data(), layout.strides.size()), at::TensorOptions().dtype(type));
}

}  // namespace tessiq::pytorch
