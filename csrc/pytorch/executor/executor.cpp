// One function an instruction.
#include "pytorch/executor/executor.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/SmallVector.h>

#include <cstdlib>
#include <string_view>

#include "profiling/log.h"
#include "program/size_table.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "pytorch/executor/convolution.h"
#include "pytorch/executor/custom.h"
#include "pytorch/executor/matmul.h"

namespace tessiq::pytorch {
namespace {

using profiling::Kind;
using profiling::OpenRegion;
using profiling::OpenTransfer;

class ArgumentSizes final : public program::CallSizes {
 public:
  explicit ArgumentSizes(const std::vector<CallValue>& arguments) : arguments_(arguments) {}

  int64_t extent(int input, int axis) const override {
    return std::get<at::Tensor>(arguments_[static_cast<size_t>(input)]).size(axis);
  }
  int64_t integer(int input) const override { return std::get<int64_t>(arguments_[static_cast<size_t>(input)]); }

 private:
  const std::vector<CallValue>& arguments_;
};

// NaN in every floating-point type, -1 in the signed ones.
constexpr uint8_t kPoison = 0xFF;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

// A copy on the other side with the same sizes and strides. Axes of stride 0 are copied once and spread again.
at::Tensor copy_to(const at::Tensor& source, c10::Device target) {
  at::Tensor compact = source;
  for (int64_t axis = 0; axis < source.dim(); ++axis) {
    if (source.stride(axis) == 0 && source.size(axis) > 1) {
      compact = compact.narrow(axis, 0, 1);
    }
  }
  at::Tensor copy = at::empty_strided(compact.sizes(), compact.strides(), compact.options().device(target));
  copy.copy_(compact);
  return compact.is_same(source) ? copy : copy.expand(source.sizes());
}

}  // namespace

// Carries one call through the program.
struct Step {
  Executor& executor;
  Registers& registers;
  const std::vector<int64_t>& sizes;
  Device& device;
  profiling::Log* log;  // null where no profile records this call
  size_t index = 0;

  void operator()(const program::Move& move) const {
    const program::Place place = executor.program_.slots[static_cast<size_t>(move.target)].place;
    if (place == program::Place::kHost) {
      const OpenTransfer region(log, profiling::Direction::kToHost, Bytes{0}, static_cast<int32_t>(index));
      count(executor.counters_.copies_to_host, executor.counters_.bytes_to_host, registers.tensor(move.source));
      registers.set(move.target, copy_to(registers.tensor(move.source), executor.places_.host), "a copy to the host");
      return;
    }
    const at::Tensor& source = registers.tensor(move.source);
    // An argument that had to be laid out anew is another tensor each call and never matches.
    if (move.input >= 0) {
      if (auto kept = executor.kept_.find(move.input, source)) {
        registers.set(move.target, *std::move(kept), "a kept copy");
        return;
      }
    }
    const OpenTransfer region(log, profiling::Direction::kToDevice, Bytes{0}, static_cast<int32_t>(index));
    count(executor.counters_.copies_to_device, executor.counters_.bytes_to_device, source);
    at::Tensor copy = copy_to(source, executor.places_.device);
    if (move.input >= 0) {
      executor.kept_.store(move.input, source, copy);
    }
    registers.set(move.target, std::move(copy), "a copy to the device");
  }

  void operator()(const program::Launch& launch) const {
    const OpenRegion region(log, Kind::kKernel, index);
    c10::SmallVector<void*, 16> pointers;
    for (program::Slot slot : launch.inputs) {
      pointers.push_back(registers.data(slot));
    }
    for (program::Slot slot : launch.outputs) {
      registers.allocate(slot);
      pointers.push_back(registers.data(slot));
    }
    c10::SmallVector<int64_t, 16> numbers;
    for (program::SizeRef size : launch.sizes) {
      numbers.push_back(program::resolve(size, sizes));
    }
    void* stream = value_or_raise(device.native_stream(current_stream(executor.device_)));
    codegen::LoadedKernel& kernel = *executor.kernels_[static_cast<size_t>(launch.kernel)];
    const std::span<void* const> arguments(pointers.data(), pointers.size());
    const std::span<const int64_t> values(numbers.data(), numbers.size());
    CachingAllocator& allocator = caching_allocator_at(executor.device_);
    void* workspace = nullptr;
    if (const int64_t bytes = kernel.workspace_bytes(arguments, values); bytes > 0) {
      workspace =
          value_or_raise(allocator.allocate(Bytes{static_cast<size_t>(bytes)}, current_stream(executor.device_)));
    }
    const int64_t elements = program::resolve(launch.element_count, sizes);
    const auto queue = [&] { return kernel.launch(arguments, values, elements, workspace, stream); };
    auto launched = queue();
    if (launched) {
      launched = region.repeat(queue);
    }
    // Given back as soon as the work is queued: whatever reuses it is queued on this stream after it.
    allocator.deallocate(workspace);
    // What Python's and PyTorch's own look-ups raise.
    TORCH_CHECK_INDEX(launched || launched.error().code() != ErrorCode::kNotFound,
                      "tessiq: ", launched ? std::string() : launched.error().message());
    value_or_raise(launched);
    ++executor.counters_.launches;
  }

  void operator()(const program::Matmul& matmul) const {
    const OpenRegion region(log, Kind::kKernel, index);
    const auto queue = [&] {
      run_matmul(matmul, registers, executor.program_, device, executor.device_);
      return Result<void>{};
    };
    value_or_raise(queue());
    value_or_raise(region.repeat(queue));
    ++executor.counters_.library_calls;
  }

  void operator()(const program::View& view) const {
    registers.set_view(view.target, view.source, program::resolve(view.offset, sizes));
  }

  void operator()(const program::Pack& pack) const {
    const OpenRegion region(log, Kind::kInterpreted, index);
    registers.allocate(pack.target);
    registers.tensor(pack.target).copy_(registers.tensor(pack.source));
  }

  void operator()(const program::Convolution& convolution) const {
    const OpenRegion region(log, Kind::kKernel, index);
    const auto queue = [&] {
      const bool by_library = run_convolution(convolution, registers, executor.program_, device, executor.device_);
      if (!by_library) {
        call_operator(convolution.otherwise);
      }
      return by_library;
    };
    // The reference device's library is PyTorch.
    if (queue() || device.kind() != DeviceKind::kCuda) {
      value_or_raise(region.repeat([&] { return queue(), Result<void>{}; }));
      ++executor.counters_.library_calls;
      return;
    }
    region.becomes(Kind::kInterpreted);
    ++executor.counters_.dispatches_on_device;
  }

  void operator()(const program::Custom& custom) const {
    const OpenRegion region(log, Kind::kKernel, index);
    const auto queue = [&] { return run_custom(custom, *executor.calls_[index], registers, sizes, executor.device_); };
    if (queue()) {
      value_or_raise(region.repeat([&] { return queue(), Result<void>{}; }));
      ++executor.counters_.launches;
      return;
    }
    region.becomes(Kind::kInterpreted);
    call_operator(custom.otherwise);
    ++executor.counters_.dispatches_on_device;
  }

  void operator()(const program::Dispatch& dispatch) const {
    const OpenRegion region(log, Kind::kInterpreted, index, dispatch.place);
    call_operator(dispatch);
    ++(dispatch.place == program::Place::kDevice ? executor.counters_.dispatches_on_device
                                                 : executor.counters_.dispatches_on_host);
  }

  void operator()(const program::Free& free) const {
    for (program::Slot slot : free.slots) {
      registers.free(slot);
    }
  }

  void call_operator(const program::Dispatch& dispatch) const {
    std::vector<at::Tensor> results = executor.calls_[index]->call(registers, sizes);
    TORCH_CHECK(results.size() >= dispatch.targets.size(), dispatch.op, " gave ", results.size(), " results where ",
                dispatch.targets.size(), " were traced");
    for (size_t i = 0; i < dispatch.targets.size(); ++i) {
      if (dispatch.targets[i] != program::kNoSlot) {
        registers.set(dispatch.targets[i], std::move(results[i]), dispatch.op.c_str());
      }
    }
  }

  // Before each buffer's first write, and before whatever follows its last read.
  void poison_idle_buffers() const {
    const auto position = static_cast<int64_t>(index);
    const auto& buffers = executor.program_.arena.buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const std::span<std::byte> bytes = registers.buffer_bytes(i);
      if (!bytes.empty() && (buffers[i].first == position || buffers[i].last + 1 == position)) {
        value_or_raise(device.fill_bytes(bytes.data(), kPoison, Bytes{bytes.size()}, current_stream(executor.device_)));
      }
    }
  }

  static void count(std::atomic<int64_t>& copies, std::atomic<int64_t>& bytes, const at::Tensor& tensor) {
    ++copies;
    bytes += static_cast<int64_t>(tensor.numel()) * static_cast<int64_t>(tensor.element_size());
  }
};

Executor::Executor(const program::Program& program, const std::vector<std::shared_ptr<codegen::LoadedKernel>>& kernels,
                   DeviceIndex device, std::vector<bool> kept_inputs)
    : program_(program),
      kernels_(kernels),
      device_(device),
      places_{c10::Device(c10::DeviceType::CPU), to_torch(device)},
      has_arena_(caching_allocator_at(device).mode() == AllocatorMode::kCaching),
      poison_(has_arena_ && is_set("TESSIQ_ARENA_POISON")),
      arena_plans_(program_),
      kept_(std::move(kept_inputs)) {
  for (const program::Instruction& instruction : program_.instructions) {
    const program::Dispatch* dispatch = program::dispatch_in(instruction);
    calls_.push_back(dispatch == nullptr ? nullptr
                                         : std::make_unique<PreparedCall>(*dispatch, places_.of(dispatch->place)));
  }
}

std::vector<CallValue> Executor::run(std::vector<CallValue> arguments) {
  TORCH_CHECK(arguments.size() == program_.inputs.size(), "tessiq: the compiled graph takes ", program_.inputs.size(),
              " arguments and was given ", arguments.size());
  // AOTAutograd already recorded what the backward pass needs; nothing below may record again.
  const at::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const ScopedDevice current(device_);
  ++counters_.calls;

  std::vector<int64_t> sizes;
  value_or_raise(program::evaluate(program_.sizes, ArgumentSizes(arguments), sizes));
  const auto plan = has_arena_ ? arena_plans_.for_sizes(sizes) : nullptr;
  Registers registers(program_, places_, sizes, plan.get());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (program_.inputs[i].slot != program::kNoSlot) {
      registers.set(program_.inputs[i].slot, std::move(std::get<at::Tensor>(arguments[i])), "an argument");
    }
  }
  arguments.clear();
  Step step{*this, registers, sizes, device_at(device_), profiling::current_log()};
  for (; step.index < program_.instructions.size(); ++step.index) {
    if (poison_) {
      step.poison_idle_buffers();
    }
    std::visit(step, program_.instructions[step.index]);
  }
  std::vector<CallValue> results;
  results.reserve(program_.outputs.size());
  for (const program::Output& output : program_.outputs) {
    if (const auto* slot = std::get_if<program::OutputSlot>(&output)) {
      results.emplace_back(registers.tensor(slot->slot));
    } else if (const auto* size = std::get_if<program::OutputSize>(&output)) {
      results.emplace_back(program::resolve(size->size, sizes));
    } else {
      results.emplace_back();
    }
  }
  return results;
}

}  // namespace tessiq::pytorch
