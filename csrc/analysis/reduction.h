// What a reduction combines, over which axes. Claiming asks whether there is an answer, fusion and emission what it is.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "optable/lookup.h"
#include "support/result.h"

namespace tessiq::analysis {

struct Reduction {
  optable::Combine combine = optable::Combine::kNone;
  std::vector<char> reduced;  // by axis of the operand: whether it goes
  bool keeps_axes = false;    // as axes of extent 1
  // Each element is converted to it before it is combined: the result's type where that is a sum or a product of
  // elements, the operand's where it is one of them.
  ir::ElementType element = ir::ElementType::kFloat32;
};

// Requires op.is_reduction(). kUnsupported where an argument is not understood, kInvalidArgument on an axis that does
// not exist.
Result<Reduction> reduction_of(const ir::Node& node, const optable::OpInfo& op);

}  // namespace tessiq::analysis
