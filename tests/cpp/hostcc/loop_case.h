// One fusion group run as generated code and compared, element by element, with the evaluator of analysis.
//
// The evaluator walks the graph at one position of the result and knows nothing of axes that were merged, strides that
// were put in, or text; so what it agrees with is the description, the emitter and the launcher together.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/element_value.h"
#include "analysis/scalar.h"
#include "codegen/emit/loop_kernel.h"
#include "ir/graph.h"
#include "optable/lookup.h"

namespace tessiq::loop_case {

using analysis::Scalar;
using ir::ElementType;
using Symbols = std::map<std::string, int64_t>;

// IEEE halves by arithmetic on their fields; `value` is one that the type holds.
inline uint16_t encode_half(double value, int mantissa_bits, int smallest_exponent) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponent_bits = 15 - mantissa_bits;
  const int all_ones = ((1 << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) {
    return static_cast<uint16_t>(all_ones | (1 << (mantissa_bits - 1)));
  }
  if (std::isinf(value)) {
    return static_cast<uint16_t>(sign | all_ones);
  }
  const double magnitude = std::fabs(value);
  if (magnitude < std::ldexp(1.0, smallest_exponent)) {
    return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, mantissa_bits - smallest_exponent)));
  }
  const int exponent = std::ilogb(magnitude);
  const int field = exponent - smallest_exponent + 1;
  const int mantissa = static_cast<int>(std::ldexp(magnitude, mantissa_bits - exponent)) - (1 << mantissa_bits);
  return static_cast<uint16_t>(sign | (field << mantissa_bits) | mantissa);
}

inline double decode_half(uint16_t bits, int mantissa_bits, int smallest_exponent) {
  const int exponent_bits = 15 - mantissa_bits;
  const int field = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (field == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (field == 0) {
    return sign * std::ldexp(mantissa, smallest_exponent - mantissa_bits);
  }
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, field - 1 + smallest_exponent - mantissa_bits);
}

template <typename T, typename Value>
void put(std::byte* at, Value value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(at, &narrow, sizeof(T));
}
template <typename T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

inline void write_scalar(std::byte* at, const Scalar& scalar) {
  switch (scalar.type()) {
    case ElementType::kBool:
    case ElementType::kUInt8:
      return put<uint8_t>(at, scalar.as_integer());
    case ElementType::kInt8:
      return put<int8_t>(at, scalar.as_integer());
    case ElementType::kInt16:
      return put<int16_t>(at, scalar.as_integer());
    case ElementType::kInt32:
      return put<int32_t>(at, scalar.as_integer());
    case ElementType::kInt64:
      return put<int64_t>(at, scalar.as_integer());
    case ElementType::kFloat16:
      return put<uint16_t>(at, encode_half(scalar.as_float(), 10, -14));
    case ElementType::kBFloat16:
      return put<uint16_t>(at, encode_half(scalar.as_float(), 7, -126));
    case ElementType::kFloat32:
      return put<float>(at, scalar.as_float());
    case ElementType::kFloat64:
      return put<double>(at, scalar.as_float());
  }
}

inline Scalar read_scalar(const std::byte* at, ElementType type) {
  switch (type) {
    case ElementType::kBool:
    case ElementType::kUInt8:
      return Scalar::of_integer(get<uint8_t>(at), type);
    case ElementType::kInt8:
      return Scalar::of_integer(get<int8_t>(at), type);
    case ElementType::kInt16:
      return Scalar::of_integer(get<int16_t>(at), type);
    case ElementType::kInt32:
      return Scalar::of_integer(get<int32_t>(at), type);
    case ElementType::kInt64:
      return Scalar::of_integer(get<int64_t>(at), type);
    case ElementType::kFloat16:
      return Scalar::of_float(decode_half(get<uint16_t>(at), 10, -14), type);
    case ElementType::kBFloat16:
      return Scalar::of_float(decode_half(get<uint16_t>(at), 7, -126), type);
    case ElementType::kFloat32:
      return Scalar::of_float(static_cast<double>(get<float>(at)), type);
    case ElementType::kFloat64:
      return Scalar::of_float(get<double>(at), type);
  }
  return Scalar::of_integer(0, type);
}

// The values that break arithmetic, then ordinary ones; `index` counts through them.
inline Scalar interesting(ElementType type, int64_t index) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const std::vector<double> floats = {0.0, -0.0, 1.0,    -1.0,  0.5,  2.0,  -3.75,     kInfinity, -kInfinity,
                                             NAN, 3.0,  1e-3,   -2.5,  7.25, 0.25, 100.0,     -0.5,      1e-30,
                                             6e4, -7.0, 0.8125, 1e-41, 31.0, 3e38, 5.9605e-8, 4.5,       -1e-3};
  static const std::vector<int64_t> integers = {0,   1,   -1,  2,    3,     -7,    5,          127,         -128,
                                                255, 10,  -3,  64,   -2,    31,    32767,      -32768,      8,
                                                33,  100, -50, 1000, 65537, 70000, 2147483647, -2147483648, 7};
  static const std::vector<int64_t> large = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  if (ir::is_floating(type)) {
    return Scalar::of_float(floats[static_cast<size_t>(index) % floats.size()], type);
  }
  const auto position = static_cast<size_t>(index) % (integers.size() + large.size());
  return Scalar::of_integer(position < integers.size() ? integers[position] : large[position - integers.size()], type);
}

struct Tensor {
  ElementType element = ElementType::kFloat32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::byte> bytes;

  std::byte* at(const std::vector<int64_t>& index) {
    int64_t offset = 0;
    const size_t skipped = index.size() - sizes.size();  // broadcasting aligns the last axes
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      offset += (sizes[axis] == 1 ? 0 : index[axis + skipped]) * strides[axis];
    }
    return bytes.data() + offset * ir::element_size(element);
  }
};

inline int64_t number(const ir::Extent& extent, const Symbols& symbols) {
  return extent.is_known() ? extent.known() : symbols.at(extent.name());
}

inline Tensor allocate(const ir::TensorType& type, const Symbols& symbols) {
  Tensor tensor{type.element, {}, {}, {}};
  for (const ir::Extent& extent : type.shape) {
    tensor.sizes.push_back(number(extent, symbols));
  }
  tensor.strides.assign(tensor.sizes.size(), 1);
  for (size_t axis = tensor.sizes.size(); axis-- > 1;) {
    tensor.strides[axis - 1] = tensor.strides[axis] * tensor.sizes[axis];
  }
  int64_t last = 0;
  for (size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
    tensor.strides[axis] = type.strides ? number((*type.strides)[axis], symbols) : tensor.strides[axis];
    last += std::max<int64_t>(tensor.sizes[axis] - 1, 0) * tensor.strides[axis];
  }
  tensor.bytes.resize(static_cast<size_t>((last + 1) * ir::element_size(type.element)));
  return tensor;
}

// Positions of a shape in row-major order.
inline std::vector<std::vector<int64_t>> positions(const std::vector<int64_t>& sizes) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (const int64_t size : sizes) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& start : all) {
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(start);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

struct LoopCase {
  const ir::Graph& graph;
  Symbols symbols;
  std::map<std::string, Tensor> tensors;

  LoopCase(const ir::Graph& case_graph, Symbols case_symbols) : graph(case_graph), symbols(std::move(case_symbols)) {
    int64_t parameter = 0;
    for (const auto& value : graph.parameters()) {
      Tensor& tensor = tensors.emplace(value->name(), allocate(value->type(), symbols)).first->second;
      const auto size = static_cast<size_t>(ir::element_size(tensor.element));
      for (size_t at = 0; at < tensor.bytes.size() / size; ++at) {
        // Different steps, so that every pair of values meets somewhere.
        const auto index = static_cast<int64_t>(at) * (parameter == 0 ? 1 : 2 + parameter * 3) + parameter;
        write_scalar(tensor.bytes.data() + at * size, interesting(tensor.element, index));
      }
      ++parameter;
    }
  }

  std::optional<int64_t> symbol(std::string_view name) const {
    const auto found = symbols.find(std::string(name));
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  }

  // Nothing where a conversion is one that machines differ in.
  std::optional<Scalar> expected(const ir::Value* value, const std::vector<int64_t>& index) {
    if (value->is_parameter()) {
      return read_scalar(tensors.at(value->name()).at(index), value->type().element);
    }
    const ir::Node& node = *value->producer();
    const auto step = analysis::element_step(node, *optable::find_op(node.op()));
    EXPECT_TRUE(step.ok()) << step.error().message();
    std::vector<Scalar> operands;
    for (const ir::Value* operand : node.operands()) {
      const auto scalar = expected(operand, index);
      if (!scalar) {
        return std::nullopt;
      }
      operands.push_back(*scalar);
    }
    const auto result =
        analysis::evaluate_element(*step, operands, [&](std::string_view name) { return symbol(name); });
    return result ? std::optional(*result) : std::nullopt;
  }

  // Sizes and pointers as the kernel takes them; outputs are allocated.
  std::vector<int64_t> sizes_for(const emit::LoopKernel& kernel) const {
    std::vector<int64_t> sizes;
    for (const ir::SizeExpr& expression : kernel.size_arguments()) {
      const auto value = expression.evaluate([&](std::string_view name) { return symbol(name); });
      EXPECT_TRUE(value.ok()) << value.error().message();
      sizes.push_back(value ? *value : 0);
    }
    return sizes;
  }
  std::vector<void*> pointers_for(const emit::LoopKernel& kernel) {
    std::vector<void*> pointers;
    for (const emit::LoopTensor& input : kernel.inputs) {
      pointers.push_back(tensors.at(input.value).bytes.data());
    }
    for (const emit::LoopTensor& output : kernel.outputs) {
      const ir::Value* value = graph.find_value(output.value);
      tensors[output.value] = allocate(value->type(), symbols);
      pointers.push_back(tensors.at(output.value).bytes.data());
    }
    return pointers;
  }
  int64_t element_count(const emit::LoopKernel& kernel) const {
    int64_t count = 1;
    for (const ir::SizeExpr& extent : kernel.extents) {
      const auto value = extent.evaluate([&](std::string_view name) { return symbol(name); });
      count *= value ? *value : 0;
    }
    return count;
  }
};

// Room for one rounding of a half, or for the last digits of a function that no standard fixes.
inline bool close(const Scalar& found, const Scalar& expected, double tolerance) {
  if (found == expected) {
    return true;
  }
  if (!ir::is_floating(expected.type()) || std::isnan(expected.as_float()) || std::isnan(found.as_float())) {
    return false;
  }
  const double difference = std::fabs(found.as_float() - expected.as_float());
  return found.as_float() == expected.as_float() || difference <= tolerance * std::fabs(expected.as_float()) ||
         difference <= tolerance * 1e-30;
}

struct Comparison {
  int64_t compared = 0;
  int64_t open = 0;  // conversions that machines differ in
  std::string first_difference;
};

// What a small result of large operands may be off by, where a product and a sum are one rounding on one side.
inline bool cancels(LoopCase& loop, const std::vector<int64_t>& index, const Scalar& found, const Scalar& expected,
                    double tolerance) {
  double scale = 0;
  for (const auto& parameter : loop.graph.parameters()) {
    Tensor& tensor = loop.tensors.at(parameter->name());
    const double magnitude = std::fabs(read_scalar(tensor.at(index), tensor.element).as_float());
    scale = std::isfinite(magnitude) ? std::max(scale, magnitude) : scale;
  }
  return std::fabs(found.as_float() - expected.as_float()) <= tolerance * scale;
}

enum class Rounding { kAsWritten, kMayBeFused };

// `tolerance` is relative; 0 asks for equal bits.
inline Comparison compare(LoopCase& loop, const emit::LoopKernel& kernel, double tolerance,
                          Rounding rounding = Rounding::kAsWritten) {
  Comparison result;
  for (const emit::LoopTensor& output : kernel.outputs) {
    const ir::Value* value = loop.graph.find_value(output.value);
    Tensor& tensor = loop.tensors.at(output.value);
    for (const std::vector<int64_t>& index : positions(tensor.sizes)) {
      const auto expected = loop.expected(value, index);
      if (!expected) {
        ++result.open;
        continue;
      }
      ++result.compared;
      const Scalar found = read_scalar(tensor.at(index), tensor.element);
      const bool fused =
          rounding == Rounding::kMayBeFused && tolerance > 0 && cancels(loop, index, found, *expected, tolerance);
      if (!close(found, *expected, tolerance) && !fused && result.first_difference.empty()) {
        result.first_difference = output.value + " at";
        for (const int64_t coordinate : index) {
          result.first_difference += " " + std::to_string(coordinate);
        }
        result.first_difference += ": found " + ir::attribute_to_string(found.to_attribute()) + ", expected " +
                                   ir::attribute_to_string(expected->to_attribute());
      }
    }
  }
  return result;
}

}  // namespace tessiq::loop_case
