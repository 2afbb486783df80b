// Building and evaluating the size table.
#include "program/size_table.h"

#include <algorithm>
#include <optional>

#include "support/int_math.h"

namespace tessiq::program {
namespace {

std::optional<SizeEntry::Source> source_of(ir::SizeExpr::Kind kind) {
  switch (kind) {
    case ir::SizeExpr::Kind::kAdd:
      return SizeEntry::Source::kAdd;
    case ir::SizeExpr::Kind::kMul:
      return SizeEntry::Source::kMul;
    case ir::SizeExpr::Kind::kFloorDiv:
      return SizeEntry::Source::kFloorDiv;
    case ir::SizeExpr::Kind::kMod:
      return SizeEntry::Source::kMod;
    case ir::SizeExpr::Kind::kMin:
      return SizeEntry::Source::kMin;
    case ir::SizeExpr::Kind::kMax:
      return SizeEntry::Source::kMax;
    default:
      return std::nullopt;
  }
}

Result<int64_t> apply(SizeEntry::Source source, int64_t left, int64_t right) {
  std::optional<int64_t> value;
  switch (source) {
    case SizeEntry::Source::kAdd:
      value = checked_add(left, right);
      break;
    case SizeEntry::Source::kMul:
      value = checked_mul(left, right);
      break;
    case SizeEntry::Source::kFloorDiv:
    case SizeEntry::Source::kMod:
      if (right == 0) {
        return invalid_argument("a size of this call divides by zero");
      }
      value = source == SizeEntry::Source::kMod ? floor_mod(left, right) : floor_div(left, right);
      break;
    case SizeEntry::Source::kMin:
      value = std::min(left, right);
      break;
    case SizeEntry::Source::kMax:
      value = std::max(left, right);
      break;
    default:
      return internal("a size entry of an argument was asked to combine two numbers");
  }
  if (!value) {
    return invalid_argument("a size of this call does not fit in 64 bits");
  }
  return *value;
}

bool same_work(const SizeEntry& a, const SizeEntry& b) {
  return a.source == b.source && a.input == b.input && a.axis == b.axis && a.left == b.left && a.right == b.right;
}

}  // namespace

void SizeTable::bind_extent(const std::string& symbol, int input, int axis) {
  sources_.try_emplace(symbol, SizeEntry{SizeEntry::Source::kInputExtent, input, axis, {}, {}, symbol});
}

void SizeTable::bind_integer(const std::string& symbol, int input) {
  sources_.try_emplace(symbol, SizeEntry{SizeEntry::Source::kInputInteger, input, 0, {}, {}, symbol});
}

SizeRef SizeTable::add(SizeEntry entry) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (same_work(entries_[i], entry)) {
      return SizeRef::entry(static_cast<int64_t>(i));
    }
  }
  entries_.push_back(std::move(entry));
  return SizeRef::entry(static_cast<int64_t>(entries_.size()) - 1);
}

SizeRef SizeTable::binary(SizeEntry::Source source, SizeRef left, SizeRef right) {
  if (left.is_constant && right.is_constant) {
    if (auto value = apply(source, left.value, right.value)) {
      return SizeRef::constant(*value);
    }
  }
  return add({source, 0, 0, left, right, {}});
}

Result<SizeRef> SizeTable::symbol_ref(const std::string& name) {
  if (auto known = symbols_.find(name); known != symbols_.end()) {
    return known->second;
  }
  SizeRef result;
  if (auto source = sources_.find(name); source != sources_.end()) {
    result = add(source->second);
  } else if (const auto* definition = graph_.find_symbol(name); definition != nullptr && definition->expression) {
    TESSIQ_ASSIGN_OR_RETURN(result, ref(*definition->expression));
    if (!result.is_constant && entries_[static_cast<size_t>(result.value)].name.empty()) {
      entries_[static_cast<size_t>(result.value)].name = name;
    }
  } else {
    return invalid_argument("no argument of the call carries the size '" + name + "'");
  }
  symbols_.emplace(name, result);
  return result;
}

Result<SizeRef> SizeTable::ref(const ir::Extent& extent) {
  if (extent.is_known()) {
    return SizeRef::constant(extent.known());
  }
  if (extent.is_symbol()) {
    return symbol_ref(extent.name());
  }
  return invalid_argument("an extent written '?' cannot be worked out at a call: give it a name");
}

Result<SizeRef> SizeTable::ref(const ir::SizeExpr& expression) {
  if (expression.kind == ir::SizeExpr::Kind::kConstant) {
    return SizeRef::constant(expression.constant);
  }
  if (expression.kind == ir::SizeExpr::Kind::kSymbol) {
    return symbol_ref(expression.symbol);
  }
  const auto source = source_of(expression.kind);
  if (!source || expression.operands.empty()) {
    return internal("a size expression has no operands: " + expression.to_string());
  }
  TESSIQ_ASSIGN_OR_RETURN(SizeRef result, ref(expression.operands.front()));
  for (size_t i = 1; i < expression.operands.size(); ++i) {
    TESSIQ_ASSIGN_OR_RETURN(const SizeRef operand, ref(expression.operands[i]));
    result = binary(*source, result, operand);
  }
  return result;
}

Result<std::vector<SizeRef>> SizeTable::refs(const std::vector<ir::Extent>& extents) {
  std::vector<SizeRef> result;
  for (const ir::Extent& extent : extents) {
    TESSIQ_ASSIGN_OR_RETURN(const SizeRef one, ref(extent));
    result.push_back(one);
  }
  return result;
}

Result<std::vector<SizeRef>> SizeTable::refs(const std::vector<ir::SizeExpr>& expressions) {
  std::vector<SizeRef> result;
  for (const ir::SizeExpr& expression : expressions) {
    TESSIQ_ASSIGN_OR_RETURN(const SizeRef one, ref(expression));
    result.push_back(one);
  }
  return result;
}

Result<void> evaluate(const std::vector<SizeEntry>& entries, const CallSizes& call, std::vector<int64_t>& values) {
  values.resize(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const SizeEntry& entry = entries[i];
    if (entry.source == SizeEntry::Source::kInputExtent) {
      values[i] = call.extent(entry.input, entry.axis);
    } else if (entry.source == SizeEntry::Source::kInputInteger) {
      values[i] = call.integer(entry.input);
    } else {
      TESSIQ_ASSIGN_OR_RETURN(values[i],
                              apply(entry.source, resolve(entry.left, values), resolve(entry.right, values)));
    }
  }
  return {};
}

}  // namespace tessiq::program
