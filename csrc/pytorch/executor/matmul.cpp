// Describes a product to the library from the sizes and strides of its operands; nothing is packed here.
#include "pytorch/executor/matmul.h"

#include <ATen/Context.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include "analysis/matmul_layout.h"
#include "codegen/libraries/matmul.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "runtime/registry.h"

namespace tessiq::pytorch {
namespace {

using analysis::matrix_layout;
using libraries::Addend;

// Whether a tensor lies as the output does: row-major, one row after another at `leading`.
bool is_row_major(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  const size_t rank = sizes.size();
  return rank >= 2 && strides[rank - 1] == 1 && strides[rank - 2] >= sizes[rank - 1];
}

// PyTorch's own product of tensors that it takes: on the host, or where the library refuses.
template <typename TensorOf>
void run_through_pytorch(const program::Matmul& matmul, TensorOf tensor_of) {
  at::Tensor out = tensor_of(matmul.target);
  const at::Tensor a = tensor_of(matmul.a);
  const at::Tensor b = tensor_of(matmul.b);
  const bool batched = a.dim() == 3;
  if (matmul.addend == program::kNoSlot) {
    batched ? at::bmm_out(out, a, b) : at::mm_out(out, a, b);
    return;
  }
  const at::Tensor addend = tensor_of(matmul.addend);
  batched ? at::baddbmm_out(out, addend, a, b, matmul.beta, matmul.alpha)
          : at::addmm_out(out, addend, a, b, matmul.beta, matmul.alpha);
}

// How the library adds the addend; one it cannot read is first broadcast into the output, which it then adds.
void describe_addend(const program::Matmul& matmul, Registers& registers, libraries::MatmulProblem& problem,
                     libraries::MatmulPointers& pointers) {
  problem.alpha = matmul.alpha;
  problem.beta = matmul.beta;
  if (matmul.addend == program::kNoSlot || matmul.beta == 0) {
    return;
  }
  const auto sizes = registers.sizes(matmul.addend);
  const auto strides = registers.strides(matmul.addend);
  pointers.addend = registers.data(matmul.addend);
  if (sizes.size() == 1 && sizes[0] == problem.n && strides[0] == 1 && matmul.beta == 1 && problem.batch == 1) {
    problem.addend = Addend::kRow;
    return;
  }
  const auto target = registers.sizes(matmul.target);
  problem.addend = Addend::kMatrix;
  if (std::equal(sizes.begin(), sizes.end(), target.begin(), target.end()) && is_row_major(sizes, strides)) {
    problem.addend_leading = strides[strides.size() - 2];
    problem.addend_batch_stride = strides.size() == 3 ? strides[0] : 0;
    return;
  }
  registers.tensor(matmul.target).copy_(registers.tensor(matmul.addend));
  pointers.addend = pointers.output;
  problem.addend_leading = problem.output_leading;
  problem.addend_batch_stride = problem.output_batch_stride;
}

void run_on_cuda(const program::Matmul& matmul, Registers& registers, ir::ElementType element, Device& device,
                 DeviceIndex index) {
  const auto a = value_or_raise(matrix_layout(registers.sizes(matmul.a), registers.strides(matmul.a)));
  const auto b = value_or_raise(matrix_layout(registers.sizes(matmul.b), registers.strides(matmul.b)));
  libraries::MatmulProblem problem = value_or_raise(libraries::matmul_problem(a, b, element));
  const auto strides = registers.strides(matmul.target);
  problem.output_leading = strides[strides.size() - 2];
  problem.output_batch_stride = strides.size() == 3 ? strides[0] : 0;
  // PyTorch's own switch, asked at every call.
  problem.allow_tf32 = element == ir::ElementType::kFloat32 && at::globalContext().allowTF32CuBLAS();
  libraries::MatmulPointers pointers;
  pointers.a = registers.data(matmul.a);
  pointers.b = registers.data(matmul.b);
  pointers.output = registers.data(matmul.target);
  describe_addend(matmul, registers, problem, pointers);

  const Stream stream = current_stream(index);
  CachingAllocator& allocator = caching_allocator_at(index);
  libraries::Workspace workspace;
  workspace.size = value_or_raise(libraries::recommended_matmul_workspace(device));
  workspace.pointer = value_or_raise(allocator.allocate(workspace.size, stream));
  const auto result =
      libraries::matmul(device, problem, pointers, workspace, value_or_raise(device.native_stream(stream)));
  // Given back as soon as the work is queued: whatever reuses it is queued on this stream after it.
  allocator.deallocate(workspace.pointer);
  if (!result && result.error().code() == ErrorCode::kUnsupported) {
    run_through_pytorch(matmul, [&](program::Slot slot) { return registers.tensor(slot); });
    return;
  }
  value_or_raise(result);
}

}  // namespace

void run_matmul(const program::Matmul& matmul, Registers& registers, const program::Program& program, Device& device,
                DeviceIndex index) {
  registers.allocate(matmul.target);
  if (device.kind() == DeviceKind::kCuda) {
    run_on_cuda(matmul, registers, program.slots[static_cast<size_t>(matmul.target)].element, device, index);
  } else {
    run_through_pytorch(matmul, [&](program::Slot slot) { return registers.host_alias(slot); });
  }
}

}  // namespace tessiq::pytorch
