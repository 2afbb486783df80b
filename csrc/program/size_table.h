// Builds the size table of a program: every number of a call that is not known before it, each worked out once.
//
// Decides where a free symbol is read from: the first argument that carries it. Refuses a symbol that none does.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "program/program.h"
#include "support/result.h"

namespace tessiq::program {

class SizeTable {
 public:
  explicit SizeTable(const ir::Graph& graph) : graph_(graph) {}

  // The first source a symbol is given stays: later arguments that carry it are equal by PyTorch's own guards.
  void bind_extent(const std::string& symbol, int input, int axis);
  void bind_integer(const std::string& symbol, int input);

  // kInvalidArgument for an unknown extent, or a free symbol that no argument carries.
  Result<SizeRef> ref(const ir::Extent& extent);
  Result<SizeRef> ref(const ir::SizeExpr& expression);
  Result<std::vector<SizeRef>> refs(const std::vector<ir::Extent>& extents);
  Result<std::vector<SizeRef>> refs(const std::vector<ir::SizeExpr>& expressions);

  std::vector<SizeEntry> take_entries() && { return std::move(entries_); }

 private:
  Result<SizeRef> symbol_ref(const std::string& name);
  SizeRef add(SizeEntry entry);
  SizeRef binary(SizeEntry::Source source, SizeRef left, SizeRef right);

  const ir::Graph& graph_;
  std::unordered_map<std::string, SizeEntry> sources_;  // looked up by name, never iterated
  std::unordered_map<std::string, SizeRef> symbols_;
  std::vector<SizeEntry> entries_;
};

// Values of the whole table for one call, given a reader of the call's arguments. kInvalidArgument on division by zero
// or overflow. `values` is resized to the table.
struct CallSizes {
  virtual ~CallSizes() = default;
  virtual int64_t extent(int input, int axis) const = 0;
  virtual int64_t integer(int input) const = 0;
};
Result<void> evaluate(const std::vector<SizeEntry>& entries, const CallSizes& call, std::vector<int64_t>& values);

inline int64_t resolve(SizeRef ref, const std::vector<int64_t>& values) {
  return ref.is_constant ? ref.value : values[static_cast<size_t>(ref.value)];
}

}  // namespace tessiq::program
