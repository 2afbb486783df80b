// One block of memory under two device types: how PyTorch's CUDA and CPU kernels see tessiq's memory and back.
//
// Decides ownership: a shared storage holds the original alive, and sharing it back gives the original itself, so
// tensors never pile up wrappers. Nothing here copies or relabels the caller's storage.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>

namespace tessiq::pytorch {

// `storage` as a storage of `target`. `allocator` serves the result if it is ever resized. Undefined where the memory
// cannot be addressed by `target`; the caller has checked that.
c10::Storage share_storage(const c10::Storage& storage, c10::Device target, c10::Allocator* allocator);

// Passes record_stream on to PyTorch's CUDA allocator where the memory is its own; nothing to do otherwise.
void record_shared_storage_on_stream(const c10::DataPtr& data, const c10::Stream& stream);

}  // namespace tessiq::pytorch
