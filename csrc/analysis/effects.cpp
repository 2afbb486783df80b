// Effects of a node: the operation table's word, else the node's mark, else the worst.
#include "analysis/effects.h"

#include "optable/lookup.h"

namespace tessiq::analysis {

bool is_pure(const ir::Node& node) {
  if (const optable::OpInfo* op = optable::find_op(node.op())) {
    return op->effects == optable::Effects::kPure;
  }
  const ir::Attribute* mark = node.attribute(kPureAttribute);
  return mark != nullptr && std::holds_alternative<bool>(*mark) && std::get<bool>(*mark);
}

}  // namespace tessiq::analysis
