// What it costs to run nodes on the host or on the device, and to move values between the two, in microseconds.
//
// Estimates, good to a factor of two or three: they weigh a crossing against the work beside it, and nobody's clock is
// compared with them. A size that comes with the call counts as kAssumedExtent.
#pragma once

#include <cstdint>
#include <span>

#include "ir/graph.h"

namespace tessiq::analysis {

inline constexpr int64_t kAssumedExtent = 128;

// Bytes of a value's elements.
int64_t bytes_of(const ir::Value& value, const ir::Graph& graph);

struct Cost {
  double host_us = 0;
  double device_us = 0;
};

// Of nodes that run on one side together: what each reads and writes, and the products and sums of a matrix multiply or
// a convolution. On the host each is a call; on the device loops and reductions that read one another count as one
// kernel, which fusion makes of most of them. Nothing for views and fills: they are as cheap where their readers are.
Cost cost_of(std::span<const ir::Node* const> unit, const ir::Graph& graph);
// One copy between host and device.
double crossing_us(int64_t bytes);

// What generated kernels on the device take: `launches` of them, bytes read and written together, and instructions of
// all elements, as instructions_of counts them.
struct KernelWork {
  double launches = 0;
  double bytes = 0;
  double instructions = 0;
};
double kernel_us(const KernelWork& work);
// Of one element of a node with an expression, roughly: a function of the mathematical library is many.
double instructions_of(const ir::Node& node);

}  // namespace tessiq::analysis
