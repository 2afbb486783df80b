// From when to when each value that needs memory has to keep it.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace tessiq::analysis {

// Positions count nodes in list order; a value is written at `first` and read at `last`, both included: two values
// whose ranges touch are alive at once, since a node reads its operands while it writes its results.
struct StorageRange {
  const ir::Value* value = nullptr;
  int64_t first = 0;
  int64_t last = 0;
  // The graph returns it, or a view of it: its memory leaves the call.
  bool escapes = false;
};

// One range a value that a kernel of ours writes, in list order. The nodes of a fusion group run at its last node, and
// what is read only within the group has no storage. A view keeps what it views alive, and has no storage of its own.
// Values of unclaimed nodes are PyTorch's to allocate; such a node may return a view of an operand unless its row says
// otherwise.
std::vector<StorageRange> storage_ranges(const ir::Graph& graph);

}  // namespace tessiq::analysis
