#include "analysis/placement_cost.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/convolution.h"
#include "analysis/element_step.h"
#include "analysis/expression.h"
#include "analysis/intrinsics.h"
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
constexpr double kDeviceInstructions = 20e6;  // of generated code, which has other things to do as well
constexpr double kLibraryFunction = 16;       // instructions of exp, erf, tanh and their like
constexpr double kDivision = 8;
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
    // Every weight meets every position of the side that has one product a position.
    const ir::Value& output = found->is_backward ? *node.operand(found->gradient) : *node.result();
    const ir::Value& positions = found->transposed ? *node.operand(found->input) : output;
    const ir::Value& weight = *node.operand(found->weight);
    const double channels = static_cast<double>(std::max<int64_t>(extent_of(weight.type().shape.front(), graph), 1));
    const int products = found->is_backward ? found->wanted[0] + found->wanted[1] : 1;
    return 2 * products * elements_of(positions, graph) * elements_of(weight, graph) / channels;
  }
  return 0;
}

bool is_generated(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op != nullptr && (op->is_loop() || op->is_reduction()) && op->category != optable::Category::kCreation;
}

// Loops and reductions of the unit that read one another, directly or through others of them, counted once.
int kernels_in(std::span<const ir::Node* const> unit) {
  std::map<const ir::Node*, const ir::Node*> parent;  // never iterated
  for (const ir::Node* node : unit) {
    if (is_generated(*node)) {
      parent[node] = node;
    }
  }
  auto root = [&](const ir::Node* node) {
    while (parent.at(node) != node) {
      node = parent.at(node) = parent.at(parent.at(node));
    }
    return node;
  };
  auto kernels = static_cast<int>(parent.size());
  for (const ir::Node* node : unit) {
    for (const ir::Value* operand : node->operands()) {
      if (parent.count(node) == 0 || parent.count(operand->producer()) == 0) {
        continue;
      }
      const ir::Node* producer = root(operand->producer());
      const ir::Node* reader = root(node);
      kernels -= producer == reader ? 0 : 1;
      parent.at(producer) = reader;
    }
  }
  return kernels;
}

double instructions_in(const Expression& expression) {
  double count = 0;
  for (const Expression& part : expression.parts) {
    count += instructions_in(part);
  }
  switch (expression.kind) {
    case Expression::Kind::kArgument:
    case Expression::Kind::kLiteral:
      return count;
    case Expression::Kind::kCall:
      return count + (is_reproducible_intrinsic(expression.name) ? 1 : kLibraryFunction);
    case Expression::Kind::kBinary:
      return count + (expression.name == "/" ? kDivision : 1);
    case Expression::Kind::kUnary:
    case Expression::Kind::kSelect:
      return count + 1;
  }
  return count;
}

}  // namespace

int64_t bytes_of(const ir::Value& value, const ir::Graph& graph) {
  return static_cast<int64_t>(elements_of(value, graph)) * ir::element_size(value.type().element);
}

namespace {

// But for the launch on the device.
Cost node_cost(const ir::Node& node, const ir::Graph& graph) {
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
          .device_us = bytes / kDeviceBytes + flops / kDeviceFlops};
}

}  // namespace

Cost cost_of(std::span<const ir::Node* const> unit, const ir::Graph& graph) {
  Cost total;
  int launches = kernels_in(unit);
  for (const ir::Node* node : unit) {
    const Cost cost = node_cost(*node, graph);
    total.host_us += cost.host_us;
    total.device_us += cost.device_us;
    launches += cost.host_us > 0 && !is_generated(*node) ? 1 : 0;
  }
  total.device_us += launches * kDeviceCall;
  return total;
}

double crossing_us(int64_t bytes) { return kCrossing + static_cast<double>(bytes) / kCrossingBytes; }

double kernel_us(const KernelWork& work) {
  return work.launches * kDeviceCall + work.bytes / kDeviceBytes + work.instructions / kDeviceInstructions;
}

double instructions_of(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  const Result<ElementStep> step =
      op != nullptr && op->has_expression() ? element_step(node, *op) : Result<ElementStep>(unsupported("no loop"));
  const Result<Expression> expression = step ? parse_expression(step->expression) : Result<Expression>(step.error());
  return expression ? instructions_in(*expression) : kLibraryFunction;
}

}  // namespace tessiq::analysis
