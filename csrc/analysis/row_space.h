// The iteration space of a kernel that reduces: rows of elements, with what it computes an element and what a row.
//
// Decides which nodes can share such a kernel and how it reads and writes each tensor. Fusion asks before it joins two
// nodes, emission asks what was joined, so they cannot disagree.
#pragma once

#include <span>
#include <vector>

#include "analysis/loop_access.h"
#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::analysis {

// An axis of an input that is read at the position another input holds for the row.
struct RowLookup {
  size_t positions = 0;  // an entry of RowSpace::inputs
  ir::SizeExpr stride;
  ir::SizeExpr extent;
  bool wraps = false;

  friend bool operator==(const RowLookup&, const RowLookup&) = default;
};

struct RowTensor {
  const ir::Value* value = nullptr;
  // Of the elements in memory, one stride an axis of the space; 0 along the reduced axes where it has one element a
  // row.
  LoopAccess access;
  bool per_row = false;
  std::vector<RowLookup> lookups = {};
};

struct RowMember {
  const ir::Node* node = nullptr;
  bool per_row = false;  // its result: one element a row, as after a reduction
  // How often the rows have to have been walked before an element of it can be computed: a reduction's result is known
  // one walk after the elements it reduces.
  int walk = 0;
};

struct RowSpace {
  ir::Shape shape;            // of the elements that are reduced
  std::vector<char> reduced;  // by axis; the others number the rows
  std::vector<RowMember> members;
  std::vector<RowTensor> inputs;   // in the order they are first read
  std::vector<RowTensor> outputs;  // values that somebody outside reads, in list order
  int walks = 1;                   // over the elements of a row, the last one included
};

// Whether neighbours among the reduced elements lie side by side in memory, so that the threads of a row read whole
// lines; else neighbouring rows do, or nothing does.
bool reduces_neighbours(const RowSpace& space);

// `members` in list order, at least one of them a reduction. kUnsupported where no kernel computes them together: they
// reduce different elements or axes, or one is read in another way than it was computed.
Result<RowSpace> row_space(const ir::Graph& graph, std::span<const ir::Node* const> members);

}  // namespace tessiq::analysis
