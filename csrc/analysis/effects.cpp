// Effects of a node: the operation table's word, else the node's mark, else the worst.
#include "analysis/effects.h"

#include "analysis/decisions.h"
#include "optable/lookup.h"

namespace tessiq::analysis {
namespace {

bool is_marked_pure(const ir::Node& node) {
  const ir::Attribute* mark = node.attribute(kPureAttribute);
  return mark != nullptr && std::holds_alternative<bool>(*mark) && std::get<bool>(*mark);
}

}  // namespace

bool is_pure(const ir::Node& node) {
  if (const optable::OpInfo* op = optable::find_op(node.op())) {
    return op->effects == optable::Effects::kPure;
  }
  return is_marked_pure(node);
}

bool may_write(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  return op == nullptr ? !is_marked_pure(node) : op->effects == optable::Effects::kWrites;
}

bool may_keep_operands(const ir::Node& node) {
  const optable::OpInfo* op = optable::find_op(node.op());
  if (op == nullptr) {
    return !is_marked_pure(node);
  }
  switch (op->category) {
    case optable::Category::kMovement:
      return true;
    case optable::Category::kCopy:  // aten.contiguous gives back what is contiguous already
    case optable::Category::kCustom:
      return !is_supported(node);
    default:
      return false;
  }
}

}  // namespace tessiq::analysis
