// Freed blocks that other streams may still be using, held back until those streams have passed.
//
// Decides when such a block is free: an event recorded on each stream at the free has passed. Leaves the lists of free
// blocks, and all counting, to the caching allocator. Not synchronised: an owner is used by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "runtime/device.h"

namespace tessiq {

// A piece of device memory, and who may still touch it.
struct Block {
  void* pointer = nullptr;
  Bytes size;       // of the size class
  Bytes requested;  // as asked for
  Stream stream;    // the stream it belongs to
  std::vector<Stream> other_streams;
};

class PendingUses {
 public:
  explicit PendingUses(Device& device) : device_(&device) {}

  bool empty() const { return uses_.empty(); }

  // Marks the present end of every stream in `block.other_streams`. A stream that cannot be marked now, because the
  // driver refused an event, is marked when the block is next looked at: later than needed, and never too early.
  void add(Block block);
  // Joins `other`, whose blocks were freed later, to this.
  void append(PendingUses&& other);
  // The blocks whose streams have passed. Asks the driver and does not wait.
  std::vector<Block> take_finished();
  // Waits for the streams and gives every block whose streams were waited for; a block whose stream cannot be waited
  // for stays. `waits` counts the waits.
  std::vector<Block> wait_for_all(int64_t& waits);

 private:
  struct HeldBlock {
    Block block;
    size_t streams_left = 0;
  };
  struct Use {
    Event event;  // null when it could not be recorded yet
    std::shared_ptr<HeldBlock> held;
  };

  // A recorded event on `stream`, or a null one.
  Event mark(Stream stream);
  bool has_passed(Use& use, Stream stream);
  bool wait_for(Use& use, Stream stream);
  static void finish(Use& use, std::vector<Block>& finished);

  Device* device_;
  // Per stream in the order of the frees, which is the order in which the events pass.
  std::map<int64_t, std::deque<Use>> uses_;
};

}  // namespace tessiq
