// Facts per operator, kept for ever; each thread keeps its own look-up table so that a hit takes no lock.
#include "pytorch/eager/operator_facts.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace tessiq::pytorch {
namespace {

// Operators that take host tensors beside device tensors by design: indices, lengths, scalars in lists.
constexpr std::array<std::string_view, 9> kMixesDevices = {
    "aten::index.",      "aten::index_put", "aten::_index_put_impl", "aten::_pack_padded_sequence",
    "aten::_pad_packed", "aten::_foreach_", "aten::_unsafe_index",   "aten::_ctc_loss",
    "aten::_fused_"};

ArgumentKind kind_of(const c10::TypePtr& declared) {
  c10::TypePtr type = declared;
  if (const auto optional = type->cast<c10::OptionalType>()) {
    type = optional->getElementType();
  }
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return ArgumentKind::kTensor;
    case c10::TypeKind::DeviceObjType:
      return ArgumentKind::kDevice;
    case c10::TypeKind::GeneratorType:
      return ArgumentKind::kGenerator;
    case c10::TypeKind::ListType: {
      const c10::TypePtr element = type->castRaw<c10::ListType>()->getElementType();
      if (element->kind() == c10::TypeKind::TensorType) {
        return ArgumentKind::kTensorList;
      }
      const auto optional = element->cast<c10::OptionalType>();
      return optional && optional->getElementType()->kind() == c10::TypeKind::TensorType
                 ? ArgumentKind::kOptionalTensorList
                 : ArgumentKind::kOther;
    }
    default:
      return ArgumentKind::kOther;
  }
}

// The written argument in the same alias set as `result`, or -1.
int argument_behind(const c10::FunctionSchema& schema, const c10::Argument& result) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && alias->beforeSets() == result.alias_info()->beforeSets()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::unique_ptr<OperatorFacts> analyse(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  auto facts = std::make_unique<OperatorFacts>();
  facts->name = c10::toString(op.operator_name());
  facts->operator_name = op.operator_name();
  facts->argument_count = schema.arguments().size();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const ArgumentKind kind = kind_of(argument.type());
    if (kind == ArgumentKind::kOther) {
      continue;
    }
    const c10::AliasInfo* alias = argument.alias_info();
    facts->arguments.push_back({i, kind, alias != nullptr && alias->isWrite()});
    facts->takes_generator |= kind == ArgumentKind::kGenerator;
  }
  for (const c10::Argument& result : schema.returns()) {
    ResultFacts of_result;
    if (result.alias_info() != nullptr) {
      of_result.argument = argument_behind(schema, result);
      facts->is_view |= !result.alias_info()->isWrite();
    }
    facts->results.push_back(of_result);
  }
  facts->is_random = facts->takes_generator || op.hasTag(at::Tag::nondeterministic_seeded);
  facts->mixes_devices =
      std::ranges::any_of(kMixesDevices, [&](std::string_view prefix) { return facts->name.starts_with(prefix); });
  return facts;
}

struct FactsTable {
  std::mutex mutex;
  std::vector<std::unique_ptr<OperatorFacts>> all;
  std::unordered_map<const c10::FunctionSchema*, OperatorFacts*> by_schema;
};

FactsTable& table() {
  static auto* instance = new FactsTable;
  return *instance;
}

// A library that is unloaded leaves its schema's address to another operator.
bool describes(const OperatorFacts& facts, const c10::OperatorHandle& op) {
  return facts.operator_name == op.operator_name() && facts.argument_count == op.schema().arguments().size() &&
         facts.results.size() == op.schema().returns().size();
}

}  // namespace

OperatorFacts& facts_of(const c10::OperatorHandle& op) {
  thread_local std::unordered_map<const c10::FunctionSchema*, OperatorFacts*> seen;
  const c10::FunctionSchema* key = &op.schema();
  OperatorFacts*& mine = seen[key];
  if (mine != nullptr && describes(*mine, op)) {
    return *mine;
  }
  std::lock_guard lock(table().mutex);
  OperatorFacts*& shared = table().by_schema[key];
  if (shared == nullptr || !describes(*shared, op)) {
    shared = table().all.emplace_back(analyse(op)).get();
  }
  mine = shared;
  return *mine;
}

void for_each_known_operator(const std::function<void(OperatorFacts&)>& visit) {
  std::lock_guard lock(table().mutex);
  for (const auto& facts : table().all) {
    visit(*facts);
  }
}

}  // namespace tessiq::pytorch
