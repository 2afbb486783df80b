// Device memory as PyTorch asks for it: c10's allocator interface over the runtime's caching allocators.
//
// Decides which device an allocation belongs to and remembers it, since a deleter receives an address and nothing
// else. Leaves sizes, reuse and counters to runtime/caching_allocator.h.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <optional>

#include "runtime/device.h"

namespace tessiq::pytorch {

// Allocates on the named device whatever is current; for factories that were given a device. Lives for ever.
c10::Allocator* allocator_for(DeviceIndex index);

// The device whose allocator handed out `pointer`, if one did.
std::optional<DeviceIndex> owner_of(const void* pointer);

// Holds the block behind `data` back from reuse until `stream` has passed.
void record_data_on_stream(const c10::DataPtr& data, const c10::Stream& stream);

}  // namespace tessiq::pytorch
