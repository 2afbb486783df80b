// One pass over the nodes, one loop over each result's elements.
#include "interpreter.h"

#include <unordered_map>
#include <utility>

#include "analysis/element_value.h"
#include "optable/lookup.h"

namespace tessiq::testing_support {
namespace {

using analysis::Scalar;

// Of the operand's element that position `flat` of a tensor of shape `shape` reads, aligned at the last axis.
size_t broadcast_index(const std::vector<int64_t>& operand, const std::vector<int64_t>& shape, size_t flat) {
  size_t index = 0;
  size_t stride = 1;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const auto extent = static_cast<size_t>(shape[shape.size() - back]);
    const size_t position = flat % extent;
    flat /= extent;
    if (back <= operand.size()) {
      const auto own = static_cast<size_t>(operand[operand.size() - back]);
      index += own == 1 ? 0 : position * stride;
      stride *= own;
    }
  }
  return index;
}

class Interpreter {
 public:
  explicit Interpreter(const std::map<std::string, int64_t, std::less<>>& symbols) : symbols_(symbols) {}

  void set(const ir::Value* value, Tensor tensor) { tensors_[value] = std::move(tensor); }
  const Tensor& get(const ir::Value* value) const { return tensors_.at(value); }

  Result<void> run(const ir::Node& node) {
    const optable::OpInfo* op = optable::find_op(node.op());
    if (op == nullptr || !op->is_loop() || node.result_count() != 1) {
      return unsupported(node.op() + " is not one loop");
    }
    TESSIQ_ASSIGN_OR_RETURN(const analysis::ElementStep step, analysis::element_step(node, *op));
    Tensor result;
    size_t count = 1;
    for (const ir::Extent& extent : node.result()->type().shape) {
      TESSIQ_ASSIGN_OR_RETURN(const int64_t size, value_of(extent));
      result.shape.push_back(size);
      count *= static_cast<size_t>(size);
    }
    for (size_t flat = 0; flat < count; ++flat) {
      std::vector<Scalar> operands;
      for (const ir::Value* operand : node.operands()) {
        const Tensor& tensor = get(operand);
        operands.push_back(tensor.elements[broadcast_index(tensor.shape, result.shape, flat)]);
      }
      auto element = analysis::evaluate_element(step, operands, [&](std::string_view name) { return symbol(name); });
      if (!element && element.error().code() != ErrorCode::kUnsupported) {
        return std::move(element).error();
      }
      // A float that no integer holds has no agreed conversion; any fixed one serves a comparison of two runs.
      result.elements.push_back(element ? *element : Scalar::of_integer(0, step.element));
    }
    set(node.result(), std::move(result));
    return {};
  }

 private:
  std::optional<int64_t> symbol(std::string_view name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? std::nullopt : std::optional(found->second);
  }

  Result<int64_t> value_of(const ir::Extent& extent) const {
    const std::optional<int64_t> value = extent.is_known()    ? std::optional(extent.known())
                                         : extent.is_symbol() ? symbol(extent.name())
                                                              : std::nullopt;
    return value ? Result<int64_t>(*value) : unsupported("extent " + extent.to_string() + " has no value");
  }

  const std::map<std::string, int64_t, std::less<>>& symbols_;
  std::unordered_map<const ir::Value*, Tensor> tensors_;
};

}  // namespace

Result<std::vector<Tensor>> interpret(const ir::Graph& graph, const std::vector<Tensor>& parameters,
                                      const std::map<std::string, int64_t, std::less<>>& symbols) {
  Interpreter interpreter(symbols);
  for (size_t i = 0; i < parameters.size(); ++i) {
    interpreter.set(graph.parameters()[i].get(), parameters[i]);
  }
  for (const auto& node : graph.nodes()) {
    TESSIQ_RETURN_IF_ERROR(interpreter.run(*node));
  }
  std::vector<Tensor> results;
  for (const ir::Value* result : graph.results()) {
    results.push_back(interpreter.get(result));
  }
  return results;
}

}  // namespace tessiq::testing_support
