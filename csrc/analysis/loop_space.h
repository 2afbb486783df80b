// The iteration space of a loop: which nodes one can compute together, and where each of them computes.
//
// Fusion asks before it joins two groups, emission asks what was joined, so they cannot disagree.
#pragma once

#include <span>
#include <vector>

#include "analysis/element_step.h"
#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::analysis {

// A node computes at the loop's position less `shift`. What it computes there is read only for positions in every
// window.
struct LoopFrame {
  std::vector<ir::SizeExpr> shift;  // one an axis
  std::vector<Window> windows;      // of the loop's positions

  // Of what is read through windows from here.
  LoopFrame within(const std::vector<Window>& inner) const;
  // A window of this frame's positions as one of the loop's.
  Window moved(const Window& window) const;

  friend bool operator==(const LoopFrame&, const LoopFrame&) = default;
};

struct LoopSpace {
  ir::Shape shape;
  std::vector<LoopFrame> frames;  // one a member
};

// `members` in list order. kUnsupported where no loop computes them together: one is not computed by loops, they run
// over different shapes, one is read elsewhere than it is computed, or in two windows.
Result<LoopSpace> loop_space(const ir::Graph& graph, std::span<const ir::Node* const> members);

// Whether the node can compute on any operands at all, as it has to outside a window: an integer division by zero ends
// a program.
bool is_total(const ir::Node& node);

// Every extent proven equal.
bool same_shape(const ir::Shape& a, const ir::Shape& b);

}  // namespace tessiq::analysis
