// Conversions by schema type. The same attribute means different things to different schemas: a string may be a dtype,
// a device, a layout or a string; a list of numbers may be sizes, flags or reals.
#include "pytorch/executor/arguments.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <string>
#include <unordered_map>

#include "program/size_table.h"

namespace tessiq::pytorch {
namespace {

using program::Argument;

at::ScalarType parse_dtype(const std::string& label) {
  static const std::unordered_map<std::string, at::ScalarType> types = {{"bool", at::kBool},
                                                                        {"uint8", at::kByte},
                                                                        {"int8", at::kChar},
                                                                        {"int16", at::kShort},
                                                                        {"int32", at::kInt},
                                                                        {"int64", at::kLong},
                                                                        {"float16", at::kHalf},
                                                                        {"bfloat16", at::kBFloat16},
                                                                        {"float32", at::kFloat},
                                                                        {"float64", at::kDouble},
                                                                        {"complex64", at::kComplexFloat},
                                                                        {"complex128", at::kComplexDouble}};
  const auto found = types.find(label);
  TORCH_CHECK(found != types.end(), "tessiq: unknown dtype label '", label, "'");
  return found->second;
}

at::MemoryFormat parse_memory_format(const std::string& label) {
  if (label == "contiguous_format") {
    return at::MemoryFormat::Contiguous;
  }
  if (label == "preserve_format") {
    return at::MemoryFormat::Preserve;
  }
  if (label == "channels_last") {
    return at::MemoryFormat::ChannelsLast;
  }
  TORCH_CHECK(label == "channels_last_3d", "tessiq: unknown memory format label '", label, "'");
  return at::MemoryFormat::ChannelsLast3d;
}

bool depends_on_call(const Argument& argument) {
  if (std::holds_alternative<program::Slot>(argument) || std::holds_alternative<program::SlotList>(argument)) {
    return true;
  }
  if (const auto* size = std::get_if<program::SizeRef>(&argument)) {
    return !size->is_constant;
  }
  if (const auto* sizes = std::get_if<std::vector<program::SizeRef>>(&argument)) {
    for (program::SizeRef size : *sizes) {
      if (!size.is_constant) {
        return true;
      }
    }
  }
  return false;
}

class Conversion {
 public:
  Conversion(Registers* registers, const std::vector<int64_t>& sizes, c10::Device device)
      : registers_(registers), sizes_(sizes), device_(device) {}

  c10::IValue convert(const Argument& argument, const c10::TypePtr& type) const {
    if (auto optional = type->cast<c10::OptionalType>()) {
      return std::holds_alternative<ir::None>(argument) ? c10::IValue() : convert(argument, optional->getElementType());
    }
    if (std::holds_alternative<ir::None>(argument)) {
      return c10::IValue();
    }
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        return tensor(argument);
      case c10::TypeKind::ListType:
        return list(argument, type->castRaw<c10::ListType>()->getElementType());
      case c10::TypeKind::BoolType:
        return std::holds_alternative<bool>(argument) ? std::get<bool>(argument) : integer(argument) != 0;
      case c10::TypeKind::FloatType:
        return real(argument);
      case c10::TypeKind::NumberType:
        return number(argument);
      case c10::TypeKind::StringType:
        return text(argument, *type);
      case c10::TypeKind::DeviceObjType:
        // Wherever the trace put it, the call's own side is meant.
        return device_;
      case c10::TypeKind::ScalarTypeType:
        return static_cast<int64_t>(parse_dtype(text(argument, *type)));
      case c10::TypeKind::LayoutType:
        TORCH_CHECK(text(argument, *type) == "strided", "tessiq: only the strided layout is supported");
        return static_cast<int64_t>(at::kStrided);
      case c10::TypeKind::MemoryFormatType:
        return static_cast<int64_t>(parse_memory_format(text(argument, *type)));
      default:
        return integer(argument);
    }
  }

 private:
  int64_t integer(const Argument& argument) const {
    if (const auto* value = std::get_if<int64_t>(&argument)) {
      return *value;
    }
    if (const auto* value = std::get_if<bool>(&argument)) {
      return *value ? 1 : 0;
    }
    const auto* size = std::get_if<program::SizeRef>(&argument);
    TORCH_CHECK(size != nullptr, "tessiq: an integer argument was expected");
    return program::resolve(*size, sizes_);
  }

  double real(const Argument& argument) const {
    if (const auto* value = std::get_if<double>(&argument)) {
      return *value;
    }
    return static_cast<double>(integer(argument));
  }

  c10::IValue number(const Argument& argument) const {
    if (const auto* value = std::get_if<double>(&argument)) {
      return *value;
    }
    if (const auto* value = std::get_if<bool>(&argument)) {
      return *value;
    }
    return integer(argument);
  }

  const std::string& text(const Argument& argument, const c10::Type& type) const {
    const auto* value = std::get_if<std::string>(&argument);
    TORCH_CHECK(value != nullptr, "tessiq: a label was expected for an argument of type ", type.str());
    return *value;
  }

  c10::IValue tensor(const Argument& argument) const {
    if (const auto* slot = std::get_if<program::Slot>(&argument)) {
      return registers_->tensor(*slot);
    }
    // A Python number where the schema has a tensor: what PyTorch's own argument parser makes of it.
    at::Tensor wrapped = c10::scalar_to_tensor(number(argument).toScalar());
    wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
    return wrapped;
  }

  c10::IValue list(const Argument& argument, const c10::TypePtr& element) const {
    if (const auto* slots = std::get_if<program::SlotList>(&argument)) {
      if (element->kind() == c10::TypeKind::OptionalType) {
        c10::List<std::optional<at::Tensor>> tensors;
        for (program::Slot slot : slots->slots) {
          tensors.push_back(slot == program::kNoSlot ? std::nullopt : std::optional(registers_->tensor(slot)));
        }
        return tensors;
      }
      c10::List<at::Tensor> tensors;
      for (program::Slot slot : slots->slots) {
        tensors.push_back(registers_->tensor(slot));
      }
      return tensors;
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&argument)) {
      return c10::List<double>(*reals);
    }
    const auto* sizes = std::get_if<std::vector<program::SizeRef>>(&argument);
    if (sizes == nullptr) {
      // A single number stands for a list of one where the schema says `int[1]`.
      return c10::List<int64_t>({integer(argument)});
    }
    if (element->kind() == c10::TypeKind::BoolType) {
      c10::List<bool> flags;
      for (program::SizeRef size : *sizes) {
        flags.push_back(program::resolve(size, sizes_) != 0);
      }
      return flags;
    }
    if (element->kind() == c10::TypeKind::FloatType) {
      c10::List<double> reals;
      for (program::SizeRef size : *sizes) {
        reals.push_back(static_cast<double>(program::resolve(size, sizes_)));
      }
      return reals;
    }
    if (element->kind() == c10::TypeKind::TensorType) {
      return c10::List<at::Tensor>();
    }
    c10::List<int64_t> numbers;
    for (program::SizeRef size : *sizes) {
      numbers.push_back(program::resolve(size, sizes_));
    }
    return numbers;
  }

  Registers* registers_;
  const std::vector<int64_t>& sizes_;
  c10::Device device_;
};

// "aten.sum.dim_IntList" as the dispatcher names it: "aten::sum", "dim_IntList".
c10::OperatorHandle find_operator(const std::string& name) {
  const size_t first = name.find('.');
  const size_t last = name.rfind('.');
  TORCH_CHECK(first != std::string::npos && last > first, "tessiq: '", name, "' does not name a PyTorch operator");
  std::string overload = name.substr(last + 1);
  if (overload == "default") {
    overload.clear();
  }
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      (name.substr(0, first) + "::" + name.substr(first + 1, last - first - 1)).c_str(), overload.c_str());
}

const Argument* find_argument(const program::Dispatch& dispatch, size_t position, const std::string& name) {
  if (position < dispatch.positional.size()) {
    return &dispatch.positional[position];
  }
  for (const auto& [keyword, argument] : dispatch.keywords) {
    if (keyword == name) {
      return &argument;
    }
  }
  return nullptr;
}

}  // namespace

PreparedCall::PreparedCall(const program::Dispatch& dispatch, c10::Device device) : op_(find_operator(dispatch.op)) {
  const std::vector<int64_t> no_sizes;
  const Conversion conversion(nullptr, no_sizes, device);
  size_t used = dispatch.positional.size();
  const auto& schema_arguments = op_.schema().arguments();
  for (size_t i = 0; i < schema_arguments.size(); ++i) {
    const c10::Argument& wanted = schema_arguments[i];
    const Argument* given = find_argument(dispatch, i, wanted.name());
    used += given != nullptr && i >= dispatch.positional.size() ? 1 : 0;
    if (given == nullptr) {
      TORCH_CHECK(wanted.default_value().has_value(), "tessiq: ", dispatch.op, " needs its argument '", wanted.name(),
                  "'");
      template_.push_back(*wanted.default_value());
    } else if (depends_on_call(*given)) {
      template_.emplace_back();
      patches_.push_back({i, *given, wanted.real_type()});
    } else {
      template_.push_back(conversion.convert(*given, wanted.real_type()));
    }
  }
  TORCH_CHECK(used == dispatch.positional.size() + dispatch.keywords.size(), "tessiq: ", dispatch.op,
              " was given an argument that its schema does not have");
}

std::vector<c10::IValue> PreparedCall::arguments(Registers& registers, const std::vector<int64_t>& sizes) const {
  std::vector<c10::IValue> values(template_);
  const Conversion conversion(&registers, sizes, c10::Device(c10::DeviceType::CPU));
  for (const Patch& patch : patches_) {
    values[patch.position] = conversion.convert(patch.argument, patch.type);
  }
  return values;
}

std::vector<at::Tensor> PreparedCall::call(Registers& registers, const std::vector<int64_t>& sizes) const {
  torch::jit::Stack stack(arguments(registers, sizes));
  op_.callBoxed(stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) {
      results.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        results.push_back(tensor);
      }
    } else {
      // Keeps the positions of the tensors that follow.
      results.emplace_back();
    }
  }
  return results;
}

}  // namespace tessiq::pytorch
