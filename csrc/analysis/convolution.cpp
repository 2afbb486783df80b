// Reads PyTorch's two schemas of convolution by position.
#include "analysis/convolution.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/loop_access.h"
#include "analysis/size_algebra.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

Error not_understood(const ir::Node& node, const std::string& key) {
  const ir::Attribute* attribute = node.attribute(key);
  return unsupported(node.op() + ": argument " + key + " = " +
                     (attribute == nullptr ? "nothing" : ir::attribute_to_string(*attribute)) + " is not understood");
}

std::optional<std::vector<int64_t>> known_integers(const ir::Attribute* attribute) {
  const auto* list = attribute == nullptr ? nullptr : std::get_if<ir::SizeList>(attribute);
  if (list == nullptr) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (const ir::Extent& extent : *list) {
    if (!extent.is_known()) {
      return std::nullopt;
    }
    numbers.push_back(extent.known());
  }
  return numbers;
}

// One number an axis; PyTorch lets one stand for all.
Result<std::vector<int64_t>> numbers_an_axis(const ir::Node& node, int position, size_t axes, int64_t least) {
  const std::string key = std::to_string(position);
  auto numbers = known_integers(node.attribute(key));
  if (!numbers || (numbers->size() != axes && numbers->size() != 1) ||
      std::any_of(numbers->begin(), numbers->end(), [&](int64_t number) { return number < least; })) {
    return not_understood(node, key);
  }
  numbers->resize(axes, numbers->front());
  return *std::move(numbers);
}

bool is_none(const ir::Attribute* attribute) {
  return attribute == nullptr || std::holds_alternative<ir::None>(*attribute);
}

Result<void> read_numbers(const ir::Node& node, int first, size_t axes, Convolution& convolution) {
  TESSIQ_ASSIGN_OR_RETURN(convolution.stride, numbers_an_axis(node, first, axes, 1));
  TESSIQ_ASSIGN_OR_RETURN(convolution.padding, numbers_an_axis(node, first + 1, axes, 0));
  TESSIQ_ASSIGN_OR_RETURN(convolution.dilation, numbers_an_axis(node, first + 2, axes, 1));
  const ir::Attribute* transposed = node.attribute(std::to_string(first + 3));
  const ir::Attribute* groups = node.attribute(std::to_string(first + 5));
  if (transposed == nullptr || !std::holds_alternative<bool>(*transposed)) {
    return not_understood(node, std::to_string(first + 3));
  }
  if (groups == nullptr || !std::holds_alternative<int64_t>(*groups)) {
    return not_understood(node, std::to_string(first + 5));
  }
  // The padding of a transposed output (position first + 4) is in the result's sizes.
  convolution.transposed = std::get<bool>(*transposed);
  convolution.groups = std::get<int64_t>(*groups);
  return {};
}

Result<void> read_backward(const ir::Node& node, Convolution& convolution) {
  convolution.is_backward = true;
  convolution.gradient = 0;
  convolution.input = 1;
  convolution.weight = 2;
  const auto mask = known_integers(node.attribute("10"));
  if (!mask || mask->size() != 3) {
    return not_understood(node, "10");
  }
  if ((*mask)[2] != 0) {
    return unsupported(node.op() + " is asked for the gradient of a bias, which is a sum of its own");
  }
  convolution.wanted = {(*mask)[0] != 0, (*mask)[1] != 0};
  return {};
}

std::vector<int> axes_in(ChannelOrder order, const ir::Shape& shape) {
  std::vector<int> axes;
  const int rank = static_cast<int>(shape.size());
  for (int axis = 0; axis < rank; ++axis) {
    axes.push_back(axis);
  }
  if (order == ChannelOrder::kLast && rank > 2) {
    std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  }
  return axes;
}

std::vector<int> without_extent_one(std::vector<int> axes, const ir::Shape& shape) {
  std::erase_if(axes, [&](int axis) { return shape[static_cast<size_t>(axis)].is(1); });
  return axes;
}

}  // namespace

Result<Convolution> convolution_of(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  Convolution convolution;
  const bool is_backward = op != nullptr && op->name == "convolution_backward";
  const size_t tensors = is_backward ? 3 : 2;
  if (node.operands().size() < tensors) {
    return unsupported(node.op() + " has " + std::to_string(node.operands().size()) + " tensors, and " +
                       std::to_string(tensors) + " are understood");
  }
  if (is_backward) {
    TESSIQ_RETURN_IF_ERROR(read_backward(node, convolution));
  } else if (node.operands().size() > tensors || !is_none(node.attribute("2"))) {
    return unsupported(node.op() + " adds a bias, which is a loop of its own");
  }
  const int rank = node.operand(convolution.input)->type().rank();
  if (rank < 3 || rank > 5 || node.operand(convolution.weight)->type().rank() != rank) {
    return unsupported(node.op() + " has " + std::to_string(rank - 2) + " spatial axes, and 1 to 3 are understood");
  }
  TESSIQ_RETURN_IF_ERROR(read_numbers(node, is_backward ? 4 : 3, static_cast<size_t>(rank - 2), convolution));
  return convolution;
}

bool lies_in(const ir::TensorType& type, ChannelOrder order, const ir::Graph* definitions) {
  const Result<std::vector<int>> found = dense_order(type, definitions);
  return found && without_extent_one(*found, type.shape) == without_extent_one(axes_in(order, type.shape), type.shape);
}

Result<ChannelOrder> channel_order(const ir::Node& node, const Convolution& convolution, const ir::Graph* definitions) {
  for (const ChannelOrder order : {ChannelOrder::kFirst, ChannelOrder::kLast}) {
    bool fits = true;
    for (int i = 0; i < (convolution.is_backward ? 2 : 1); ++i) {
      const bool is_written = !convolution.is_backward || convolution.wanted[static_cast<size_t>(i)];
      fits = fits && (!is_written || lies_in(node.result(i)->type(), order, definitions));
    }
    if (fits) {
      return order;
    }
  }
  return unsupported("the results of " + node.op() + " are not known to be dense with the channels first or last");
}

Result<ir::TensorType> in_order(const ir::TensorType& type, ChannelOrder order) {
  if (order == ChannelOrder::kFirst) {
    return ir::TensorType{type.element, type.shape, std::nullopt};
  }
  std::vector<ir::Extent> strides(type.shape.size(), ir::Extent(1));
  int64_t next = 1;
  const std::vector<int> axes = axes_in(order, type.shape);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const auto index = static_cast<size_t>(*axis);
    strides[index] = ir::Extent(next);
    if (type.shape[index].is_known()) {
      next *= type.shape[index].known();
    } else if (std::next(axis) != axes.rend()) {
      return unsupported("a stride of " + type.to_string() + " with the channels last has no name");
    }
  }
  return ir::normalized({type.element, type.shape, std::move(strides)});
}

}  // namespace tessiq::analysis
