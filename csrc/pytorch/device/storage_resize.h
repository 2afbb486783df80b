// Growing or shrinking the memory under every tensor of a storage.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>

namespace tessiq::pytorch {

// Keeps the bytes both sizes have, in the current stream's order. Raises for storage that is not resizable.
void resize_storage(c10::StorageImpl* storage, size_t size);

}  // namespace tessiq::pytorch
