// The state of one lowering: which slots hold a value on which side, and what has been emitted so far.
//
// Private to program/: lower.cpp walks the graph with it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "program/lower.h"
#include "program/size_table.h"

namespace tessiq::program {

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const CallingConvention& convention, const analysis::TargetOptions& target);

  Result<Program> run() &&;

 private:
  using Slots = std::unordered_map<const ir::Value*, Slot>;

  Result<void> bind_inputs();
  Result<void> lower_node(const ir::Node& node);
  Result<void> lower_group(const ir::Node& node, int64_t group);
  Result<void> lower_matmul(const ir::Node& node);
  Result<void> lower_convolution(const ir::Node& node);
  Result<void> lower_custom(const ir::Node& node);
  Result<void> lower_views(const ir::Node& node, const ir::SizeList& offsets);
  Result<void> lower_pack(const ir::Node& node);
  Result<void> lower_dispatch(const ir::Node& node);
  // The node as a call of PyTorch's operator, its operands read and its results defined at `place`.
  Result<Dispatch> dispatch_of(const ir::Node& node, Place place);
  Result<void> bind_results();
  void insert_frees();

  Place place_of(const ir::Node& node) const;
  // Whether an operand of the node has yet to be brought to the device.
  bool awaits_inputs(const ir::Node& node) const;
  // The value that owns the memory `value` is a view of; itself for anything else.
  const ir::Value* owner_of(const ir::Value* value) const;
  // As read on the host, with the value's views taken again there, so that they still share their owner's memory.
  Result<Slot> read_with_owner(const ir::Value* value);
  // The slot that holds `value` on that side, moved there first where needed.
  Result<Slot> read(const ir::Value* value, Place place);
  Result<Slot> define(const ir::Value* value, Place place);
  Result<Argument> argument(const ir::Attribute& attribute);
  Result<Argument> list_argument(const ir::Node& node, const ir::SizeList& members, size_t& next, Place place);
  void record(const ir::Node& node, Fate fate, std::string kernel = {});
  // The nodes that a rewrite put into another: what computes that computes them too.
  void record_absorbed(std::string_view absorbed, NodeFate into);

  const ir::Graph& graph_;
  const CallingConvention& convention_;
  analysis::TargetOptions target_;
  SizeTable sizes_;
  Program program_;
  Slots slots_[2];  // by Place
  struct Origin {
    const ir::Value* source;
    SizeRef offset;
  };
  std::unordered_map<const ir::Value*, Origin> view_of_;
  std::unordered_map<const ir::Value*, int> input_of_;
  std::unordered_map<int64_t, const ir::Node*> launch_points_;
  bool moved_ = false;  // whether lowering the current node moved one of its inputs
};

// The value of an integer, boolean or string attribute of a node; the default where it has none.
int64_t integer_attribute(const ir::Node& node, std::string_view key, int64_t otherwise);
bool flag_attribute(const ir::Node& node, std::string_view key);
std::string text_attribute(const ir::Node& node, std::string_view key);

}  // namespace tessiq::program
