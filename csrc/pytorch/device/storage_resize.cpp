// A new block, a copy on the device, and the old block freed behind it in the same stream.
#include "pytorch/device/storage_resize.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "pytorch/device/device_allocator.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"

namespace tessiq::pytorch {

void resize_storage(c10::StorageImpl* storage, size_t size) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  const DeviceIndex device = resolve(storage->device());
  c10::DataPtr grown = allocator_for(device)->allocate(size);
  const size_t kept = std::min(size, storage->nbytes());
  if (kept > 0) {
    value_or_raise(
        device_at(device).copy_on_device(grown.get(), storage->data_ptr().get(), Bytes{kept}, current_stream(device)));
  }
  storage->set_data_ptr_noswap(std::move(grown));
  storage->set_nbytes(size);
}

}  // namespace tessiq::pytorch
