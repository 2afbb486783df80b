// What a convolution node computes, and how its tensors have to lie. Claims, packing and lowering all ask here.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace tessiq::analysis {

// aten.convolution without a bias, or aten.convolution_backward without a bias's gradient, in numbers.
struct Convolution {
  std::vector<int64_t> stride;  // one entry a spatial axis, like the next two
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  bool transposed = false;
  int64_t groups = 1;
  bool is_backward = false;
  // Operands of the node; `gradient` is the output's, -1 forward.
  int gradient = -1;
  int input = 0;
  int weight = 1;
  // Backward: whether result 0, the input's gradient, and result 1, the weight's, are asked for.
  std::array<bool, 2> wanted = {true, true};
};

// Requires a node of the category. kUnsupported where an argument is not a number, or asks for more than a library
// call does: a bias is added by a loop, and its gradient is a sum.
Result<Convolution> convolution_of(const ir::Node& node);

// The order of the axes of a dense tensor: batch, channels, space; or batch, space, channels.
enum class ChannelOrder { kFirst, kLast };

// Whether every call has the tensor in that order; `definitions` says what symbols stand for. Axes of extent 1 have no
// place of their own, so a tensor may be in both.
bool lies_in(const ir::TensorType& type, ChannelOrder order, const ir::Graph* definitions);

// The order in which all tensors of a node have to lie, which its results say. kUnsupported where they say neither.
Result<ChannelOrder> channel_order(const ir::Node& node, const Convolution& convolution, const ir::Graph* definitions);

// The same tensor, dense in that order. kUnsupported where an extent has no name.
Result<ir::TensorType> in_order(const ir::TensorType& type, ChannelOrder order);

}  // namespace tessiq::analysis
