// The arguments (self, dim, keepdim) that all reductions of PyTorch share.
#include "analysis/reduction.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/arguments.h"
#include "ir/name.h"

namespace tessiq::analysis {
namespace {

using optable::Combine;

// "dtype" is the result's type, which the graph has.
constexpr std::array<std::string_view, 5> kUnderstood = {"1", "2", "dim", "keepdim", "dtype"};

Result<void> check_arguments(const ir::Node& node, const Arguments& arguments) {
  for (const auto& [key, attribute] : node.attributes()) {
    const bool understood =
        key.starts_with(ir::kPassPrefix) || std::find(kUnderstood.begin(), kUnderstood.end(), key) != kUnderstood.end();
    if (!understood) {
      return unsupported(node.op() + ": " + key + " = " + ir::attribute_to_string(attribute) + " is not understood");
    }
  }
  if (node.operands().size() != 1 || arguments.tensor(0) == nullptr) {
    return unsupported(node.op() + " has " + std::to_string(node.operands().size()) + " tensors, and one is reduced");
  }
  if (arguments.given(1, "dim") && !arguments.sizes(1, "dim")) {
    return unsupported(node.op() + ": the axes are no list of numbers");
  }
  return {};
}

bool takes_elements_as_they_are(Combine combine) {
  return combine == Combine::kMaximum || combine == Combine::kMinimum || combine == Combine::kArgMaximum ||
         combine == Combine::kArgMinimum;
}

Result<std::vector<char>> reduced_axes(const ir::Node& node, const ir::SizeList& axes) {
  const auto rank = static_cast<int64_t>(node.operand(0)->type().shape.size());
  std::vector<char> reduced(static_cast<size_t>(rank), axes.empty() ? 1 : 0);
  for (const ir::Extent& axis : axes) {
    const int64_t written = axis.is_known() ? axis.known() : rank + 1;
    // A scalar has the one axis PyTorch lets it be reduced over.
    if (rank == 0 && (written == 0 || written == -1)) {
      continue;
    }
    const int64_t index = written < 0 ? written + rank : written;
    if (index < 0 || index >= rank) {
      return invalid_argument(node.op() + ": there is no axis " + axis.to_string() + " in a tensor of " +
                              std::to_string(rank));
    }
    if (reduced[static_cast<size_t>(index)] != 0) {
      return invalid_argument(node.op() + ": axis " + axis.to_string() + " is reduced twice");
    }
    reduced[static_cast<size_t>(index)] = 1;
  }
  return reduced;
}

}  // namespace

Result<Reduction> reduction_of(const ir::Node& node, const optable::OpInfo& op) {
  const Arguments arguments(node);
  TESSIQ_RETURN_IF_ERROR(check_arguments(node, arguments));
  const ir::SizeList axes = arguments.sizes(1, "dim").value_or(ir::SizeList{});
  const bool is_question = op.combine == Combine::kAny || op.combine == Combine::kAll;
  if (is_question && arguments.given(1, "dim") && axes.empty()) {
    return unsupported(node.op() + ": an empty list of axes is left to PyTorch");
  }
  Reduction reduction;
  reduction.combine = op.combine;
  TESSIQ_ASSIGN_OR_RETURN(reduction.reduced, reduced_axes(node, axes));
  reduction.keeps_axes = arguments.boolean(2, "keepdim").value_or(false);
  const ir::ElementType operand = node.operand(0)->type().element;
  const ir::ElementType result = node.result()->type().element;
  reduction.element = is_question ? ir::ElementType::kBool : takes_elements_as_they_are(op.combine) ? operand : result;
  const bool narrows = ir::is_floating(operand) && ir::element_size(reduction.element) < ir::element_size(operand);
  if (narrows && !is_question) {
    return unsupported(node.op() + " of a wider type than it gives");
  }
  if (op.combine == Combine::kMean && !ir::is_floating(result)) {
    return unsupported(node.op() + " has a mean that is no floating number");
  }
  return reduction;
}

}  // namespace tessiq::analysis
