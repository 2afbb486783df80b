// Page-locked host memory as PyTorch asks for it: tensor.pin_memory() and data loaders.
//
// Leaves pinning, and waiting before a block is given back, to runtime/pinned_allocator.h.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace tessiq::pytorch {

at::HostAllocator* pinned_memory();

// True for any address inside a live block.
bool is_pinned(const void* pointer);

}  // namespace tessiq::pytorch
