// Describes a convolution to the library from the sizes and strides of its tensors; nothing is packed here.
#include "pytorch/executor/convolution.h"

#include <ATen/Context.h>
#include <c10/util/SmallVector.h>

#include "codegen/libraries/convolution.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "runtime/registry.h"
#include "support/log.h"

namespace tessiq::pytorch {
namespace {

using libraries::ConvolutionPart;

// One of the results: what is called for, and from which memory.
struct Part {
  ConvolutionPart part;
  program::Slot left;
  program::Slot right;
  program::Slot target;
  std::shared_ptr<libraries::ConvolutionPlan> plan;
};

using Parts = c10::SmallVector<Part, 2>;

// Left is the image, or the response where the image is computed: for a transposed convolution the output's side.
Parts parts_of(const program::Convolution& convolution) {
  Parts parts;
  const auto add = [&](ConvolutionPart part, program::Slot left, program::Slot right, program::Slot target) {
    if (target != program::kNoSlot) {
      parts.push_back({part, left, right, target, nullptr});
    }
  };
  if (!convolution.numbers.is_backward) {
    add(ConvolutionPart::kOutput, convolution.input, convolution.weight, convolution.targets[0]);
    return parts;
  }
  const bool transposed = convolution.numbers.transposed;
  add(ConvolutionPart::kInputGradient, convolution.gradient, convolution.weight, convolution.targets[0]);
  add(ConvolutionPart::kWeightGradient, transposed ? convolution.gradient : convolution.input,
      transposed ? convolution.input : convolution.gradient, convolution.targets[1]);
  return parts;
}

libraries::ConvolutionShape shape(const Registers& registers, program::Slot slot) {
  return {registers.sizes(slot), registers.strides(slot)};
}

libraries::ConvolutionShapes shapes_of(const program::Convolution& convolution, const Registers& registers) {
  const program::Slot output = convolution.numbers.is_backward ? convolution.gradient : convolution.targets[0];
  return {shape(registers, convolution.input), shape(registers, convolution.weight), shape(registers, output)};
}

Result<void> plan_parts(Parts& parts, const program::Convolution& convolution, const Registers& registers,
                        ir::ElementType element, Device& device) {
  const libraries::ConvolutionShapes shapes = shapes_of(convolution, registers);
  for (Part& part : parts) {
    TESSIQ_ASSIGN_OR_RETURN(libraries::ConvolutionProblem problem,
                            libraries::convolution_problem(part.part, convolution.numbers, shapes, element));
    // PyTorch's own switches, asked at every call.
    problem.allow_tf32 = at::globalContext().allowTF32CuDNN();
    problem.deterministic = at::globalContext().deterministicCuDNN() || at::globalContext().deterministicAlgorithms();
    TESSIQ_ASSIGN_OR_RETURN(part.plan, libraries::convolution_plan(device, problem));
  }
  return {};
}

Result<void> run_part(const Part& part, Registers& registers, Device& device, DeviceIndex index) {
  const libraries::ConvolutionPointers pointers{registers.data(part.left), registers.data(part.right),
                                                registers.data(part.target)};
  const Stream stream = current_stream(index);
  CachingAllocator& allocator = caching_allocator_at(index);
  libraries::Workspace workspace;
  workspace.size = libraries::workspace_of(*part.plan);
  TESSIQ_ASSIGN_OR_RETURN(workspace.pointer, allocator.allocate(workspace.size, stream));
  TESSIQ_ASSIGN_OR_RETURN(void* native_stream, device.native_stream(stream));
  auto result = libraries::convolve(device, *part.plan, pointers, workspace, native_stream);
  // Given back as soon as the work is queued: whatever reuses it is queued on this stream after it.
  allocator.deallocate(workspace.pointer);
  return result;
}

}  // namespace

bool run_convolution(const program::Convolution& convolution, Registers& registers, const program::Program& program,
                     Device& device, DeviceIndex index) {
  if (device.kind() != DeviceKind::kCuda) {
    return false;
  }
  Parts parts = parts_of(convolution);
  const ir::ElementType element = program.slots[static_cast<size_t>(convolution.input)].element;
  Result<void> result = plan_parts(parts, convolution, registers, element, device);
  for (auto part = parts.begin(); result && part != parts.end(); ++part) {
    registers.allocate(part->target);
    result = run_part(*part, registers, device, index);
  }
  if (!result && result.error().code() == ErrorCode::kUnsupported) {
    log_info("libraries", convolution.otherwise.op + " runs through PyTorch: " + result.error().message());
    return false;
  }
  value_or_raise(result);
  return true;
}

}  // namespace tessiq::pytorch
