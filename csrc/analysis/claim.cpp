// The conditions a node has to meet, one function per category of operation.
#include "analysis/claim.h"

#include <algorithm>
#include <utility>

#include "analysis/arguments.h"
#include "analysis/convolution.h"
#include "analysis/custom_operation.h"
#include "analysis/element_step.h"
#include "analysis/index_map.h"
#include "analysis/lookups.h"
#include "analysis/loop_access.h"
#include "analysis/matmul_layout.h"
#include "analysis/reduction.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

using optable::Category;
using optable::OpInfo;

Claim yes() { return {true, {}, {}}; }
Claim no(std::string_view id, std::string reason) { return {false, std::string(id), std::move(reason)}; }

std::vector<const ir::Value*> values_of(const ir::Node& node) {
  std::vector<const ir::Value*> values(node.operands().begin(), node.operands().end());
  for (int i = 0; i < node.result_count(); ++i) {
    values.push_back(node.result(i));
  }
  return values;
}

bool has_unknown(const std::vector<ir::Extent>& extents) {
  return std::any_of(extents.begin(), extents.end(), [](const ir::Extent& extent) { return extent.is_unknown(); });
}

std::string named(const ir::Value& value) { return "%" + value.name() + ": " + value.type().to_string(); }

// Kernels take symbols as arguments; a question mark is nothing an argument can carry.
Claim check_sizes(const ir::Node& node) {
  for (const ir::Value* value : values_of(node)) {
    if (has_unknown(value->type().shape)) {
      return no("unknown-extent", named(*value) + " has an extent that is not known until the call, and no name");
    }
    if (value->type().strides && has_unknown(*value->type().strides)) {
      return no("layout", named(*value) + " has a stride that is not known until the call, and no name");
    }
  }
  return yes();
}

Claim check_positions(const ir::Node& node, const Lookup& lookup) {
  const ir::Value& positions = *node.operand(lookup.index);
  const ir::ElementType element = positions.type().element;
  if (element != ir::ElementType::kInt64 && element != ir::ElementType::kInt32) {
    return no("element-type", named(positions) + " holds no positions, which are int64 or int32");
  }
  const auto access = position_access(node, lookup);
  return access ? yes() : no("shape", "%" + positions.name() + ": " + access.error().message());
}

Claim check_reads(const ir::Node& node, const ElementStep& step) {
  for (const StepArgument& argument : step.arguments) {
    const auto* read = std::get_if<StepOperand>(&argument);
    if (read == nullptr) {
      continue;
    }
    for (const Lookup& lookup : read->lookups) {
      if (Claim positions = check_positions(node, lookup); !positions.supported) {
        return positions;
      }
    }
    if (auto access = operand_access(node, *read); !access) {
      return no("shape", "%" + node.operand(read->index)->name() + ": " + access.error().message());
    }
  }
  return yes();
}

// PyTorch refuses an integer to a negative power, so the operation is left to it.
bool is_negative_integer_power(const ir::Node& node, const OpInfo& op, ir::ElementType type) {
  const ir::Attribute* attribute = node.attribute("1");
  const auto* exponent = attribute == nullptr ? nullptr : std::get_if<int64_t>(attribute);
  return op.name == "pow" && ir::is_integral(type) && exponent != nullptr && *exponent < 0;
}

Claim claim_loop(const ir::Node& node, const OpInfo& op, const TargetOptions& target, const ir::Graph* definitions) {
  const ir::TensorType& type = node.result()->type();
  if (type.rank() > kMaxLoopRank) {
    return no("shape", named(*node.result()) + " has more than " + std::to_string(kMaxLoopRank) + " axes");
  }
  if (Claim sizes = check_sizes(node); !sizes.supported) {
    return sizes;
  }
  const Result<ElementStep> step = element_step(node, op);
  if (!step) {
    return no("unknown-keyword", step.error().message());
  }
  if (!op.accepts(step->operates_on)) {
    return no("element-type", node.op() + " is not computed in " + std::string(element_type_name(step->operates_on)));
  }
  if (is_negative_integer_power(node, op, step->operates_on)) {
    return no("element-type", node.op() + " is not computed for an integer and a negative exponent");
  }
  if (Claim reads = check_reads(node, *step); !reads.supported) {
    return reads;
  }
  if (auto order = dense_order(type, definitions); !order) {
    return no("layout", "%" + node.result()->name() + ": " + order.error().message());
  }
  if (!target.has_generated_loops) {
    return no("no-compiler", "there is no compiler for generated loops on this target");
  }
  return yes();
}

Claim claim_reduction(const ir::Node& node, const OpInfo& op, const TargetOptions& target,
                      const ir::Graph* definitions) {
  const ir::TensorType& operand = node.operands().empty() ? node.result()->type() : node.operand(0)->type();
  if (operand.rank() > kMaxLoopRank) {
    return no("shape", named(*node.operand(0)) + " has more than " + std::to_string(kMaxLoopRank) + " axes");
  }
  if (Claim sizes = check_sizes(node); !sizes.supported) {
    return sizes;
  }
  if (const auto reduction = reduction_of(node, op); !reduction) {
    return no("unknown-keyword", reduction.error().message());
  }
  if (!op.accepts(operand.element)) {
    return no("element-type", node.op() + " is not computed of " + std::string(element_type_name(operand.element)));
  }
  if (auto strides = stride_exprs(operand); !strides) {
    return no("layout", named(*node.operand(0)) + ": " + strides.error().message());
  }
  if (auto order = dense_order(node.result()->type(), definitions); !order) {
    return no("layout", "%" + node.result()->name() + ": " + order.error().message());
  }
  if (!target.has_generated_loops) {
    return no("no-compiler", "there is no compiler for generated loops on this target");
  }
  return yes();
}

// What the library's alpha and beta can be; anything else the call said would be dropped.
Claim check_matmul_arguments(const ir::Node& node, const OpInfo& op) {
  if (static_cast<int>(node.operands().size()) != op.arity) {
    return no("unknown-keyword", node.op() + " has " + std::to_string(node.operands().size()) + " tensors, and " +
                                     std::to_string(op.arity) + " are understood");
  }
  for (const auto& [key, attribute] : node.attributes()) {
    const bool is_parameter = std::any_of(op.parameters.begin(), op.parameters.end(),
                                          [&, &name = key](const auto& parameter) { return parameter.name == name; });
    const bool is_number = std::holds_alternative<int64_t>(attribute) || std::holds_alternative<double>(attribute);
    if (!key.starts_with(ir::kPassPrefix) && !(is_parameter && is_number)) {
      return no("unknown-keyword",
                node.op() + ": " + key + " = " + ir::attribute_to_string(attribute) + " is not understood");
    }
  }
  return yes();
}

bool same(const ir::Extent& a, const ir::Extent& b) { return a.provably_equals(b); }

// (batch x) m x k times (batch x) k x n.
bool shapes_multiply(const ir::Shape& a, const ir::Shape& b, const ir::Shape& result, size_t rank) {
  if (a.size() != rank || b.size() != rank || result.size() != rank) {
    return false;
  }
  const bool batches = rank == 2 || (same(a[0], b[0]) && same(a[0], result[0]));
  return batches && same(a[rank - 1], b[rank - 2]) && same(a[rank - 2], result[rank - 2]) &&
         same(b[rank - 1], result[rank - 1]);
}

// The addend is a row for every row of the product, or a matrix of the product's shape.
Claim check_addend(const ir::Node& node) {
  const ir::TensorType& addend = node.operand(0)->type();
  const ir::Shape& result = node.result()->type().shape;
  const bool is_whole = std::equal(addend.shape.begin(), addend.shape.end(), result.begin(), result.end(), same);
  if (is_whole) {
    return yes();
  }
  if (result.size() != 2) {
    return no("shape", named(*node.operand(0)) + " has not the product's shape");
  }
  const bool is_row = !addend.shape.empty() && same(addend.shape.back(), result[1]) &&
                      (addend.shape.size() == 1 || (addend.shape.size() == 2 && addend.shape[0].is(1)));
  if (!is_row) {
    return no("shape", named(*node.operand(0)) + " is neither a row nor a matrix of the product's shape");
  }
  const ir::Attribute* beta = node.attribute("beta");
  const auto* integer = beta == nullptr ? nullptr : std::get_if<int64_t>(beta);
  const auto* real = beta == nullptr ? nullptr : std::get_if<double>(beta);
  if (beta != nullptr && !(integer != nullptr && *integer == 1) && !(real != nullptr && *real == 1.0)) {
    return no("unknown-keyword", node.op() + ": a row is added as it is, so beta = " + ir::attribute_to_string(*beta) +
                                     " is not understood");
  }
  return yes();
}

Claim claim_matmul(const ir::Node& node, const OpInfo& op, const TargetOptions& target) {
  for (const ir::Value* value : values_of(node)) {
    if (!op.accepts(value->type().element)) {
      return no("element-type", named(*value) + " has an element type the library is not called for");
    }
    if (value->type().element != node.result()->type().element) {
      return no("element-type", named(*value) + " is multiplied into another element type");
    }
  }
  if (Claim arguments = check_matmul_arguments(node, op); !arguments.supported) {
    return arguments;
  }
  if (Claim sizes = check_sizes(node); !sizes.supported) {
    return sizes;
  }
  const bool has_addend = op.arity == 3;
  const auto first = static_cast<int>(has_addend);
  const ir::TensorType& result = node.result()->type();
  const size_t rank = op.name == "bmm" || op.name == "baddbmm" ? 3 : 2;
  if (!shapes_multiply(node.operand(first)->type().shape, node.operand(first + 1)->type().shape, result.shape, rank)) {
    return no("shape", named(*node.operand(first)) + " times " + named(*node.operand(first + 1)) +
                           " is not known to give " + result.to_string());
  }
  if (Claim addend = has_addend ? check_addend(node) : yes(); !addend.supported) {
    return addend;
  }
  if (!result.is_packed()) {
    return no("layout", named(*node.result()) + " is not packed, and a product is written packed");
  }
  if (!target.has_matmul) {
    return no("no-library", "there is no matrix multiply library on this target");
  }
  return yes();
}

// Whether a library reads the operand as it lies, or from a packed copy that can be described.
Claim check_packable(const ir::Value& operand, ChannelOrder order, const ir::Graph* definitions) {
  if (lies_in(operand.type(), order, definitions)) {
    return yes();
  }
  const Result<ir::TensorType> packed = in_order(operand.type(), order);
  return packed ? yes() : no("layout", named(operand) + ": " + packed.error().message());
}

Claim claim_convolution(const ir::Node& node, const OpInfo& op, const TargetOptions& target,
                        const ir::Graph* definitions) {
  const Result<Convolution> convolution = convolution_of(node);
  if (!convolution) {
    return no("unknown-keyword", convolution.error().message());
  }
  const ir::ElementType element = node.operand(0)->type().element;
  if (!op.accepts(element)) {
    return no("element-type", named(*node.operand(0)) + " has an element type the library is not called for");
  }
  for (const ir::Value* operand : node.operands()) {
    if (operand->type().element != element) {
      return no("element-type", named(*operand) + " is convolved with another element type");
    }
  }
  if (Claim sizes = check_sizes(node); !sizes.supported) {
    return sizes;
  }
  const Result<ChannelOrder> order = channel_order(node, *convolution, definitions);
  if (!order) {
    return no("layout", order.error().message());
  }
  for (const ir::Value* operand : node.operands()) {
    if (Claim packable = check_packable(*operand, *order, definitions); !packable.supported) {
      return packable;
    }
  }
  if (!target.has_convolution) {
    return no("no-library", "there is no convolution library on this target");
  }
  return yes();
}

// What the launch function makes of the sizes is asked at each call, which the reference serves where it declines.
Claim claim_custom(const ir::Node& node, const OpInfo& op) {
  const Arguments given(node);
  TensorArguments arguments;
  for (int position = 0; position < given.count(); ++position) {
    arguments.push_back(given.tensor(position));
  }
  const auto is_tensor = [](const ir::Value* value) { return value != nullptr; };
  if (std::count_if(arguments.begin(), arguments.end(), is_tensor) != static_cast<int64_t>(node.operands().size())) {
    return no("unknown-keyword", node.op() + " is given a tensor by keyword or in a list, which a kernel is not");
  }
  if (auto types = check_argument_types(op, arguments); !types) {
    return no("element-type", types.error().message());
  }
  for (int i = 0; i < node.result_count(); ++i) {
    if (!node.result(i)->type().is_packed()) {
      return no("layout", named(*node.result(i)) + " is not packed, and the kernel of an operation writes packed");
    }
  }
  return check_sizes(node);
}

Claim claim_other(const ir::Node& node, const OpInfo& op) {
  if (op.category == Category::kMovement) {
    return yes();  // a view computes nothing, whatever the elements are
  }
  for (const ir::Value* value : values_of(node)) {
    if (!op.accepts(value->type().element)) {
      return no("element-type", named(*value) + " has an element type the kernel does not take");
    }
  }
  return check_sizes(node);
}

}  // namespace

Claim claim(const ir::Node& node, const TargetOptions& target, const ir::Graph* definitions) {
  const ir::Attribute* device = node.attribute(kDeviceAttribute);
  if (device != nullptr && *device == ir::Attribute(std::string("host"))) {
    return no("on-host", "the result lives on the CPU, beside a graph whose tensors are on the device");
  }
  const OpInfo* op = optable::find_op(node.op());
  if (op == nullptr) {
    return no("no-row", node.op() + " has no row in the operation table");
  }
  if (!op->kernel || op->effects != optable::Effects::kPure) {
    return no("no-kernel", node.op() + " has no kernel in this backend");
  }
  const bool one_result = op->is_loop() || op->is_reduction() || op->category == Category::kMatmul;
  if (one_result && node.result_count() != 1) {
    return no("several-results",
              node.op() + " has " + std::to_string(node.result_count()) + " results, and its kernel writes one");
  }
  if (op->is_loop()) {
    return claim_loop(node, *op, target, definitions);
  }
  if (op->is_reduction()) {
    return claim_reduction(node, *op, target, definitions);
  }
  switch (op->category) {
    case Category::kMatmul:
      return claim_matmul(node, *op, target);
    case Category::kConvolution:
      return claim_convolution(node, *op, target, definitions);
    case Category::kCustom:
      return claim_custom(node, *op);
    default:
      return claim_other(node, *op);
  }
}

const std::vector<ClaimReason>& claim_reasons() {
  static const std::vector<ClaimReason> reasons = {
      {"on-host", "the result lives on the CPU, beside a graph whose tensors are on the device"},
      {"no-row", "the operation has no row in the operation table"},
      {"no-kernel", "the table knows the operation, and nothing of the backend's runs it"},
      {"several-results", "a loop, a reduction or a product with more than one result"},
      {"unknown-extent", "an extent is not known and has no name: no kernel argument can carry it"},
      {"layout", "a stride that is not known, or a result no kernel can write where it lies"},
      {"unknown-keyword", "an argument the kernel would ignore, and so compute something else"},
      {"element-type", "the kernel does not compute in this element type"},
      {"shape", "operands that are not known to fit the result, or too many axes"},
      {"no-compiler", "the target has no compiler for generated loops"},
      {"no-library", "the target has no library for matrix multiplies or convolutions"},
  };
  return reasons;
}

}  // namespace tessiq::analysis
