// Rotary position embedding (Su et al., 2021): pairs of a row's elements are turned by the angles of its position.
//
// The last axis of x has 2 * half elements, `cos` and `sin` are (positions, half) in float32, and `sequence_dim` is the
// axis that numbers positions: -2 for (batch, heads, positions, width), -3 for (batch, positions, heads, width). A pair
// is element i and element half + i of a row, or with `interleaved` elements 2i and 2i + 1.
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "pytorch/custom/definition.h"
#include "pytorch/custom/row_launch.h"
#include "pytorch/custom/wide_type.h"

namespace {

using tessiq::custom::Launch;
using tessiq::custom::wide;

struct Pairs {
  at::Tensor first;
  at::Tensor second;
};

Pairs pairs_of(const at::Tensor& x, bool interleaved) {
  const c10::SymInt half = x.sym_size(-1) / 2;
  TORCH_CHECK(half * 2 == x.sym_size(-1), "rotary_embedding turns pairs, and the last axis of x has ", x.sym_size(-1),
              " elements: give it an even number");
  if (interleaved) {
    const at::Tensor apart = x.unflatten_symint(-1, {half, c10::SymInt(2)});
    return {apart.select(-1, 0), apart.select(-1, 1)};
  }
  return {x.slice_symint(-1, 0, half), x.slice_symint(-1, half)};
}

// With an axis of 1 for each of x between positions and the last, so that it spreads over them.
at::Tensor spread(at::Tensor table, const at::Tensor& x, int64_t sequence_dim) {
  const int64_t axis = sequence_dim < 0 ? sequence_dim : sequence_dim - x.dim();
  TORCH_CHECK(axis <= -2 && axis >= -x.dim(), "rotary_embedding: sequence_dim is ", sequence_dim, ", and x has ",
              x.dim(), " axes: name one before the last");
  for (int64_t i = axis; i < -2; ++i) {
    table = table.unsqueeze(-2);
  }
  return table;
}

at::Tensor reference(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t sequence_dim,
                     bool interleaved) {
  const auto [first, second] = pairs_of(wide(x), interleaved);
  const at::Tensor along = spread(cos, x, sequence_dim);
  const at::Tensor across = spread(sin, x, sequence_dim);
  const at::Tensor one = first * along - second * across;
  const at::Tensor other = second * along + first * across;
  const at::Tensor turned = interleaved ? at::stack({one, other}, -1).flatten(-2) : at::cat({one, other}, -1);
  return turned.to(x.scalar_type());
}

constexpr int64_t kThreads = 128;
// Threads that keep a large GPU busy; beyond it they take more rows each, and read the table less often.
constexpr int64_t kEnoughThreads = 1 << 19;
constexpr int64_t kMostRowBlocks = 65535;

Launch launch(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t sequence_dim, bool interleaved,
              const at::Tensor& result) {
  using namespace tessiq::custom;
  const int64_t axis = sequence_dim < 0 ? sequence_dim + x.dim() : sequence_dim;
  if (axis < 0 || axis > x.dim() - 2 || x.size(-1) % 2 != 0 || cos.dim() != 2 || cos.size(0) != x.size(axis) ||
      cos.size(1) != x.size(-1) / 2 || sin.sizes() != cos.sizes()) {
    return Launch::decline("cos and sin are not (positions, half of the last axis)");
  }
  const int64_t half = cos.size(1);
  const int64_t positions = cos.size(0);
  const int64_t row_count = half == 0 ? 0 : x.numel() / (2 * half);
  const int64_t repeats = positions == 0 ? 0 : row_count / positions;
  int64_t inner = 1;
  for (int64_t between = axis + 1; between < x.dim() - 1; ++between) {
    inner *= x.size(between);
  }
  const int64_t width = kVectorBytes / x.element_size();
  const bool in_vectors = half % width == 0 && starts_at_a_vector(x) && starts_at_a_vector(result);
  const int64_t slots = positions * (in_vectors ? half / width : half);
  if (slots > kMostBlocks || row_count > kMostBlocks) {
    return Launch::decline("more rows than the kernel counts");
  }
  int64_t threads = kThreads;
  while (threads > 1 && threads / 2 >= slots) {
    threads /= 2;
  }
  const int64_t rows_of_block = kThreads / threads;
  const int64_t row_blocks =
      std::min({quotient_up(repeats, rows_of_block), quotient_up(kEnoughThreads, std::max<int64_t>(slots, kThreads)),
                kMostRowBlocks});
  Launch launch;
  launch.grid = {static_cast<unsigned>(quotient_up(slots, threads)), static_cast<unsigned>(row_blocks), 1};
  launch.block = {static_cast<unsigned>(threads), static_cast<unsigned>(rows_of_block), 1};
  launch.numbers = {static_cast<unsigned>(positions),
                    static_cast<unsigned>(inner),
                    static_cast<unsigned>(repeats),
                    static_cast<int>(half),
                    int{interleaved},
                    int{in_vectors}};
  return launch;
}

using Call = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, int64_t, bool);

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& gradient, const at::Tensor& x,
                                                        const at::Tensor& cos, const at::Tensor& sin,
                                                        int64_t sequence_dim, bool interleaved,
                                                        const at::Tensor& /*result*/) {
  static const auto turn = c10::Dispatcher::singleton().findSchemaOrThrow("tessiq::rotary_embedding", "").typed<Call>();
  // Turned back.
  const at::Tensor of_x = turn.call(gradient, cos, -sin, sequence_dim, interleaved);
  if (!cos.requires_grad() && !sin.requires_grad()) {
    return {of_x, at::Tensor(), at::Tensor()};
  }
  const auto [of_first, of_second] = pairs_of(wide(gradient), interleaved);
  const auto [first, second] = pairs_of(wide(x), interleaved);
  const auto onto_table = [&](const at::Tensor& spread_out, const at::Tensor& table) {
    return spread_out.sum_to_size_symint(spread(table, x, sequence_dim).sym_sizes())
        .reshape_symint(table.sym_sizes())
        .to(table.scalar_type());
  };
  return {of_x, onto_table(of_first * first + of_second * second, cos),
          onto_table(of_second * first - of_first * second, sin)};
}

}  // namespace

TESSIQ_CUSTOM_OP(rotary_embedding) {
  tessiq::custom::Definition definition;
  definition.schema =
      "rotary_embedding(Tensor x, Tensor cos, Tensor sin, int sequence_dim=-2, bool interleaved=False) -> Tensor";
  definition.reference = &reference;
  definition.launch = &launch;
  definition.element_types = {at::kHalf, at::kBFloat16, at::kFloat};
  definition.argument_types = {{"cos", at::kFloat}, {"sin", at::kFloat}};
  definition.backward = &backward;
  return definition;
}
