// Scratch memory that a library call is lent.
#pragma once

#include "runtime/device.h"

namespace tessiq::libraries {

// On the device, free for reuse once later work of the same stream runs. Aligned to 256 bytes.
struct Workspace {
  void* pointer = nullptr;
  Bytes size;
};

}  // namespace tessiq::libraries
