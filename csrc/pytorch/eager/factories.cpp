// Tensors made from nothing: allocated on the device that was asked for, or the current one.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

constexpr c10::DispatchKeySet kKey(c10::DispatchKey::PrivateUse1);

void check_options(std::optional<c10::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == c10::kStrided, "tessiq devices hold dense tensors only, not ",
                              *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::Tensor empty(c10::SymIntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pin_memory,
                 std::optional<c10::MemoryFormat> memory_format) {
  check_options(layout, pin_memory);
  const DeviceIndex index = resolve(device);
  const ScopedDevice current(index);
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), allocator_for(index), kKey,
                                   c10::dtype_or_default(dtype), memory_format);
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<c10::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                         std::optional<bool> pin_memory) {
  check_options(layout, pin_memory);
  const DeviceIndex index = resolve(device);
  const ScopedDevice current(index);
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride),
                                           allocator_for(index), kKey, c10::dtype_or_default(dtype));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
}

}  // namespace
}  // namespace tessiq::pytorch
