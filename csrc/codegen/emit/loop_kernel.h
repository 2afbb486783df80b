// The description of a fused loop: what an emitter turns into text for one target. The seam of a port.
//
// Decides everything about the computation and nothing about the target: no thread, block or vector is named here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/element_type.h"
#include "ir/graph.h"
#include "ir/size_expr.h"
#include "optable/lookup.h"
#include "support/result.h"

namespace tessiq::emit {

// Where a position of the loop (an entry of LoopKernel::positions) is from `begin` up to `end`.
struct LoopWindow {
  int position = 0;
  ir::SizeExpr begin;
  ir::SizeExpr end;

  friend bool operator==(const LoopWindow&, const LoopWindow&) = default;
};

// An axis of an input that is read at the position another input holds: p of it lies p * stride elements further on.
// Anything but a position from 0 up to `extent` is an error of the call, and nothing is read there.
struct LoopLookup {
  int positions = 0;  // an entry of LoopKernel::inputs, of int32 or int64, without lookups of its own
  ir::SizeExpr stride;
  ir::SizeExpr extent;
  bool wraps = false;  // a negative position counts from the end

  friend bool operator==(const LoopLookup&, const LoopLookup&) = default;
};

// A tensor the loop reads or writes. Element offset of position (i0, i1, ...) = offset + sum of i_k * strides[k], and
// what its lookups add.
struct LoopTensor {
  std::string value;  // IR value name
  ir::ElementType element = ir::ElementType::kFloat32;
  std::vector<ir::SizeExpr> strides;     // one an axis of the collapsed space
  bool per_row = false;                  // of a reduction: one element a row, its strides along the reduced axes are 0
  ir::SizeExpr offset = {};              // of an input: may be negative, as may strides
  std::vector<LoopWindow> windows = {};  // of an input: read where all hold, 0 elsewhere
  std::string read_as = {};              // of an input that is read in several ways: what steps call this one
  std::vector<LoopLookup> lookups = {};  // of an input; of a reduction, the same all along a row

  const std::string& name() const { return read_as.empty() ? value : read_as; }
};

struct LoopConstant {
  std::variant<bool, int64_t, double> value;
};
struct LoopSymbol {
  ir::SizeExpr value;  // a size used as a number
};
struct LoopRead {
  std::string value;  // an input or an earlier step
};
struct LoopInside {  // a bool: whether all windows hold
  std::vector<LoopWindow> windows;
};
struct LoopPosition {  // an int64: an entry of LoopKernel::positions less `shift`
  int position = 0;
  ir::SizeExpr shift;
};
using LoopArgument = std::variant<LoopRead, LoopConstant, LoopSymbol, LoopInside, LoopPosition>;

// One operation: `expression` over $0, $1, ... (named parameters already put in) evaluated in `compute`, then converted
// to `element`. Half types: compute is float32, and an intermediate keeps float32 unless `rounds` asks for the narrow
// type (an explicit cast must not be lost).
//
// A step with `combine` reduces: every element of a row of argument 0 is converted to `compute` and combined; a mean is
// the sum divided by argument 1. Rows are walked several times where an element depends on what an earlier walk
// combined: `walk` is the number of walks before this step's value can be computed.
struct LoopStep {
  std::string value;
  std::string op;
  std::string expression;
  ir::ElementType compute = ir::ElementType::kFloat32;
  ir::ElementType element = ir::ElementType::kFloat32;
  uint32_t bool_arguments = 0;  // bit i: argument i is converted to bool instead of `compute`
  bool rounds = false;
  std::vector<LoopArgument> arguments;
  optable::Combine combine = optable::Combine::kNone;
  bool per_row = false;  // of a reduction: computed once a row
  int walk = 0;
};

struct LoopKernel {
  std::string name;                   // of the value at its end; not part of the text, so that equal loops share code
  std::vector<ir::SizeExpr> extents;  // collapsed iteration space, outermost first; empty for one element
  std::vector<LoopTensor> inputs;
  std::vector<LoopStep> steps;
  std::vector<LoopTensor> outputs;  // each names a step
  // Coordinates that windows and steps ask for, as strides are: number at (i0, i1, ...) = sum of i_k * strides[k].
  std::vector<std::vector<ir::SizeExpr>> positions = {};
  int reduced_axes = 0;  // the last axes, which are combined; 0 for a loop

  bool is_reduction() const { return reduced_axes > 0; }
  // Every input at the loop's own position, forwards.
  bool reads_in_place() const;
  bool looks_up() const;

  // Sizes that come with the call, in the order the kernel takes them: every extent, stride or symbol that is not a
  // constant, once each.
  std::vector<ir::SizeExpr> size_arguments() const;
};

// The loop that computes the nodes of one fusion group (attribute tessiq.group), in list order. Every node was claimed,
// so a failure is kInternal.
Result<LoopKernel> describe_loop(const ir::Graph& graph, int64_t group);

// ---------------------------------------------------------------------------------------------------------------------

// One entry point of a kernel's source. The launcher takes the first variant whose conditions hold.
struct KernelVariant {
  std::string entry;
  int vector_width = 1;        // elements a load moves; pointers must be aligned to vector_width * widest element
  int64_t inner_multiple = 1;  // the innermost extent, and that of tile_axis, has to be divisible by this
  int elements_per_thread = 1;
  int threads = 256;         // a block; 0 for the host target
  bool index_32bit = false;  // every offset and the element count have to fit in 31 bits
  int tile = 0;              // a block computes as many positions of the last axis and of tile_axis; 0: a run of them
  int tile_axis = 0;
  int rows_per_block = 0;                // of a reduction
  int64_t longest_row = 0;               // of a reduction: as many elements a row at most; 0 for any
  bool vectors_across_rows = false;      // of a reduction: a vector's elements are of neighbouring rows
  bool splits = false;                   // of a reduction: blockIdx.y numbers the blocks that share a row
  bool is_final = false;                 // combines what they left; launched after them, never chosen
  int64_t shared_bytes_per_element = 0;  // of a row, in shared memory that comes with the launch
  int64_t elements_per_pass = 0;         // of a row that a block reads before it reads on
};

struct KernelSource {
  std::string text;  // whole, header-free, equal for equal descriptions
  std::string body;  // the text without the definitions that several kernels of one source share
  std::vector<KernelVariant> variants;
};

// CUDA: each entry is
//   extern "C" __global__ void entry(const T0* in0, ..., U0* out0, ..., int64_t size0, ..., int64_t n)
// with sizes as size_arguments() orders them, then a multiplier for each of LoopSizes::divisors, and n the number of
// elements of the iteration space. A reduction's entries take `void* workspace` after n: 16 bytes for each reduction,
// row and block that shares it. The final entry takes `int64_t parts` after that, the number of those blocks.
Result<KernelSource> emit_cuda(const LoopKernel& kernel);

// C++ for the reference device: each entry is
//   extern "C" void entry(void* const* pointers, const int64_t* sizes, int64_t begin, int64_t end, int64_t* fault)
// pointers: inputs then outputs; computes elements [begin, end) of the flat iteration space. Where a lookup finds a
// position that its axis has not, it stops and writes 1, the position and the extent to `fault`.
Result<KernelSource> emit_host(const LoopKernel& kernel);

// One source of several kernels: what they share once, then each body. Entry names differ where bodies do.
std::string joined_cuda(std::span<const std::string> bodies);
std::string joined_host(std::span<const std::string> bodies);

// The same loop with values named by position (in0, in1, step0, ...), so that loops that differ in names alone, as
// those of a model's layers do, become equal text.
LoopKernel with_positional_names(const LoopKernel& kernel);

// Changes whenever the same description becomes different text or is launched differently: part of every cache key.
inline constexpr int kEmitterVersion = 6;

}  // namespace tessiq::emit
