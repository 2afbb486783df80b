// Shared storages hold a reference to the original as their deleter's context.
#include "pytorch/device/shared_storage.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StorageImpl.h>

#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

using StoragePointer = c10::intrusive_ptr<c10::StorageImpl>;

void release_original(void* context) { StoragePointer::reclaim(static_cast<c10::StorageImpl*>(context)).reset(); }

// The storage that `data` shares, or null if it owns its memory in another way.
c10::StorageImpl* original_of(const c10::DataPtr& data) {
  return data.get_deleter() == &release_original ? static_cast<c10::StorageImpl*>(data.get_context()) : nullptr;
}

}  // namespace

c10::Storage share_storage(const c10::Storage& storage, c10::Device target, c10::Allocator* allocator) {
  const c10::DataPtr& data = storage.data_ptr();
  if (c10::StorageImpl* original = original_of(data)) {
    // A resize may have given either side other memory since.
    if (original->device() == target && original->data_ptr().get() == data.get() &&
        original->nbytes() == storage.nbytes()) {
      return c10::Storage(StoragePointer::reclaim_copy(original));
    }
  }
  StoragePointer kept = StoragePointer::reclaim_copy(storage.unsafeGetStorageImpl());
  void* const address = data.get();
  c10::DataPtr shared(address, kept.release(), &release_original, target);
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), storage.nbytes(),
                                                            std::move(shared), allocator, /*resizable=*/true));
}

void record_shared_storage_on_stream(const c10::DataPtr& data, const c10::Stream& stream) {
  c10::StorageImpl* original = original_of(data);
  if (original == nullptr || original->device_type() != c10::DeviceType::CUDA) {
    return;
  }
  if (auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::CUDA))) {
    allocator->recordStream(original->data_ptr(), to_cuda(from_torch(stream)));
  }
}

}  // namespace tessiq::pytorch
