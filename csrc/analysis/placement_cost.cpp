#include "analysis/placement_cost.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/convolution.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

// Of a machine with an H200 (docs/design/0044). Microseconds an operation, bytes and operations a microsecond.
constexpr double kHostCall = 5;
constexpr double kHostBytes = 10e3;
constexpr double kHostFlops = 200e3;
constexpr double kDeviceCall = 5;
constexpr double kDeviceBytes = 3e6;
constexpr double kDeviceFlops = 40e6;
constexpr double kCrossing = 15;
constexpr double kCrossingBytes = 8e3;

std::optional<int64_t> assumed(std::string_view) { return kAssumedExtent; }

int64_t extent_of(const ir::Extent& extent, const ir::Graph& graph) {
  if (extent.is_known()) {
    return extent.known();
  }
  if (!extent.is_symbol()) {
    return kAssumedExtent;
  }
  for (const ir::SymbolDefinition& symbol : graph.symbols()) {
    if (symbol.name == extent.name() && symbol.expression) {
      // An expression that has no value for the assumption says nothing of the real one.
      const Result<int64_t> value = symbol.expression->evaluate(assumed);
      return value.ok() && *value >= 0 ? *value : kAssumedExtent;
    }
  }
  return kAssumedExtent;
}

double elements_of(const ir::Value& value, const ir::Graph& graph) {
  double count = 1;
  for (const ir::Extent& extent : value.type().shape) {
    count *= static_cast<double>(extent_of(extent, graph));
  }
  return count;
}

// Two for each product that is added up.
double flops_of(const ir::Node& node, optable::Category category, const ir::Graph& graph) {
  if (category == optable::Category::kMatmul) {
    const ir::Value& a = *node.operand(node.operands().size() == 3 ? 1 : 0);
    return 2 * elements_of(*node.result(), graph) *
           static_cast<double>(a.type().rank() == 0 ? 1 : extent_of(a.type().shape.back(), graph));
  }
  if (category == optable::Category::kConvolution) {
    const Result<Convolution> found = convolution_of(node);
    if (!found.ok()) {
      return 0;
    }
    const ir::Value& output = found->is_backward ? *node.operand(found->gradient) : *node.result();
    const ir::Value& weight = *node.operand(found->weight);
    const double channels = static_cast<double>(std::max<int64_t>(extent_of(weight.type().shape.front(), graph), 1));
    const int products = found->is_backward ? found->wanted[0] + found->wanted[1] : 1;
    return 2 * products * elements_of(output, graph) * elements_of(weight, graph) / channels;
  }
  return 0;
}

}  // namespace

int64_t bytes_of(const ir::Value& value, const ir::Graph& graph) {
  return static_cast<int64_t>(elements_of(value, graph)) * ir::element_size(value.type().element);
}

Cost cost_of(const ir::Node& node, const ir::Graph& graph) {
  const optable::OpInfo* op = optable::find_op(node.op());
  const optable::Category category = op == nullptr ? optable::Category::kCustom : op->category;
  if (category == optable::Category::kMovement || category == optable::Category::kCreation) {
    return {};
  }
  double bytes = 0;
  for (const ir::Value* operand : node.operands()) {
    bytes += static_cast<double>(bytes_of(*operand, graph));
  }
  if (op != nullptr && op->looks_up()) {
    // As much of a table as is written, and the positions.
    const int64_t table = bytes_of(*node.operand(0), graph);
    bytes -= static_cast<double>(std::max<int64_t>(table - bytes_of(*node.result(), graph), 0));
  }
  for (int index = 0; index < node.result_count(); ++index) {
    bytes += static_cast<double>(bytes_of(*node.result(index), graph));
  }
  const double flops = flops_of(node, category, graph);
  return {.host_us = kHostCall + bytes / kHostBytes + flops / kHostFlops,
          .device_us = kDeviceCall + bytes / kDeviceBytes + flops / kDeviceFlops};
}

double crossing_us(int64_t bytes) { return kCrossing + static_cast<double>(bytes) / kCrossingBytes; }

}  // namespace tessiq::analysis
