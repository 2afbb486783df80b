// What it costs to run nodes on the host or on the device, and to move values between the two, in microseconds.
//
// Estimates, good to a factor of two or three: they weigh a crossing against the work beside it, and nobody's clock is
// compared with them. A size that comes with the call counts as kAssumedExtent.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace tessiq::analysis {

inline constexpr int64_t kAssumedExtent = 128;

// Bytes of a value's elements.
int64_t bytes_of(const ir::Value& value, const ir::Graph& graph);

struct Cost {
  double host_us = 0;
  double device_us = 0;
};

// One node by itself: what it reads and writes, and the products and sums of a matrix multiply or a convolution.
// Nothing for views and fills: they are as cheap where their readers are.
Cost cost_of(const ir::Node& node, const ir::Graph& graph);
// One copy between host and device.
double crossing_us(int64_t bytes);

}  // namespace tessiq::analysis
