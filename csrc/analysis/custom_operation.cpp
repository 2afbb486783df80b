#include "analysis/custom_operation.h"

#include <algorithm>
#include <string>

namespace tessiq::analysis {
namespace {

const optable::ArgumentType* own_type(const optable::OpInfo& op, int position) {
  const auto found = std::find_if(op.argument_types.begin(), op.argument_types.end(),
                                  [&](const optable::ArgumentType& one) { return one.position == position; });
  return found == op.argument_types.end() ? nullptr : &*found;
}

}  // namespace

Result<void> check_argument_types(const optable::OpInfo& op, const TensorArguments& arguments) {
  const ir::Value* first = nullptr;
  for (int position = 0; position < static_cast<int>(arguments.size()); ++position) {
    const ir::Value* value = arguments[static_cast<size_t>(position)];
    if (value == nullptr) {
      continue;
    }
    const ir::ElementType element = value->type().element;
    const std::string found = "%" + value->name() + " is " + std::string(element_type_name(element));
    if (const optable::ArgumentType* own = own_type(op, position)) {
      if (element != own->type) {
        return unsupported(found + ", and " + std::string(op.name) + " takes " +
                           std::string(element_type_name(own->type)) + " there");
      }
      continue;
    }
    if (!op.accepts(element)) {
      return unsupported(found + ", which " + std::string(op.name) + " does not declare");
    }
    if (first != nullptr && first->type().element != element && op.category == optable::Category::kCustom) {
      return unsupported(found + ", and %" + first->name() + " is " +
                         std::string(element_type_name(first->type().element)));
    }
    first = first == nullptr ? value : first;
  }
  return {};
}

std::optional<ir::ElementType> element_of_call(const optable::OpInfo& op, const TensorArguments& arguments) {
  for (int position = 0; position < static_cast<int>(arguments.size()); ++position) {
    const ir::Value* value = arguments[static_cast<size_t>(position)];
    if (value != nullptr && own_type(op, position) == nullptr) {
      return value->type().element;
    }
  }
  return std::nullopt;
}

}  // namespace tessiq::analysis
