// Blocks with a guarded margin on both sides, for the allocator's debug mode.
//
// Decides the layout: kDeviceAlignment bytes of a pattern, the block at its exact size, the same again. An overrun by a
// single byte lands in a margin. Leaves the counting, and which block has which size, to the caching allocator.
#pragma once

#include "runtime/device.h"

namespace tessiq {

class RedZones {
 public:
  explicit RedZones(Device& device) : device_(&device) {}

  // The start of a block of exactly `size` bytes. The margins are written on `stream`, before any work of the caller.
  Result<void*> allocate(Bytes size, Stream stream);
  // Waits for the device, gives the memory back, and says whether both margins are as they were written. A margin that
  // cannot be read is logged and taken as intact: the reason it cannot is another failure's.
  bool check_and_free(void* pointer, Bytes size, Stream stream) noexcept;

 private:
  Result<void> write_margins(void* base, Bytes size, Stream stream);
  Result<bool> margins_intact(void* base, Bytes size, Stream stream);

  Device* device_;
};

}  // namespace tessiq
