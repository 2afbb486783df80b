// Packs what is not packed, asks the launch function, and hands the driver the addresses of the arguments.
#include "pytorch/custom/kernel_launch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "codegen/emit/written_source.h"
#include "pytorch/custom/reference.h"
#include "pytorch/device/identity.h"
#include "pytorch/device/raise.h"
#include "pytorch/executor/registers.h"
#include "support/log.h"

namespace tessiq::custom {
namespace {

nvrtc::WrittenKernel written(const Operation& operation, ir::ElementType element) {
  return {operation.name, emit::written_source(operation.name, *operation.kernel, element)};
}

std::optional<ir::ElementType> declared(const Operation& operation, at::ScalarType type) {
  for (int i = 0; i < ir::kElementTypeCount; ++i) {
    const auto element = static_cast<ir::ElementType>(i);
    if (pytorch::scalar_type_of(element) == type && operation.declares(element)) {
      return element;
    }
  }
  return std::nullopt;
}

bool is_given(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

const ArgumentType* own_type(const Operation& operation, size_t position) {
  const auto& types = operation.definition.argument_types;
  const std::string& name = operation.schema.arguments()[position].name();
  const auto found = std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.argument == name; });
  return found == types.end() ? nullptr : &*found;
}

// What decides which kernel a call runs: the first tensor without a type of its own.
std::optional<ir::ElementType> element_of_call(const Operation& operation, const Values& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_given(arguments[i]) && own_type(operation, i) == nullptr) {
      return declared(operation, arguments[i].toTensor().scalar_type());
    }
  }
  return std::nullopt;
}

struct Fitting {
  DeviceIndex device;
  ir::ElementType element;
};

// Whether the kernel takes the arguments at all, before sizes are looked at.
std::optional<Fitting> fitting(const Operation& operation, const Values& arguments) {
  const auto element = element_of_call(operation, arguments);
  std::optional<c10::Device> device;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!is_given(arguments[i])) {
      continue;
    }
    const at::Tensor& tensor = arguments[i].toTensor();
    const ArgumentType* own = own_type(operation, i);
    if (!element || tensor.scalar_type() != (own != nullptr ? own->type : pytorch::scalar_type_of(*element)) ||
        tensor.device().type() != pytorch::kTessiq || tensor.device() != device.value_or(tensor.device()) ||
        tensor.is_conj() || tensor.is_neg()) {
      return std::nullopt;
    }
    device = tensor.device();
  }
  if (!device || pytorch::device_at(pytorch::resolve(*device)).kind() != DeviceKind::kCuda) {
    return std::nullopt;
  }
  return Fitting{pytorch::resolve(*device), *element};
}

Tensors results_for(const Operation& operation, const Values& arguments) {
  Values shapes = arguments;
  c10::Device device(pytorch::kTessiq);
  for (c10::IValue& value : shapes) {
    if (is_given(value)) {
      const at::Tensor tensor = value.toTensor();
      device = tensor.device();
      value = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::DeviceType::Meta));
    }
  }
  Tensors results;
  for (const at::Tensor& shape : new_results(operation, shapes)) {
    results.push_back(at::empty(shape.sizes(), shape.options().device(device)));
  }
  return results;
}

// The arguments with packed copies of those that are not. Nothing where one that is written in place is not packed:
// its copy would be written instead.
std::optional<Values> packed(const Operation& operation, const Values& arguments) {
  Values values = arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_given(values[i]) || values[i].toTensor().is_contiguous()) {
      continue;
    }
    if (operation.schema.arguments()[i].alias_info() != nullptr) {
      return std::nullopt;
    }
    values[i] = values[i].toTensor().contiguous();
  }
  return values;
}

void run(nvrtc::LoadedWrittenKernel& kernel, const Operation& operation, const Launch& launch, const Values& values,
         void* stream) {
  c10::SmallVector<void*, 16> pointers;
  // A tensor that was not given is a null pointer in its place.
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_given(values[i])) {
      pointers.push_back(values[i].toTensor().data_ptr());
    } else if (i < operation.schema.arguments().size() && is_tensor_argument(operation.schema.arguments()[i])) {
      pointers.push_back(nullptr);
    }
  }
  c10::SmallVector<void*, 24> parameters;
  for (void*& pointer : pointers) {
    parameters.push_back(&pointer);
  }
  for (const KernelNumber& number : launch.numbers) {
    parameters.push_back(const_cast<std::byte*>(number.bytes.data()));
  }
  pytorch::value_or_raise(kernel.launch(launch.instance, {launch.grid, launch.block, launch.shared_bytes},
                                        {parameters.data(), parameters.size()}, stream));
}

Result<std::shared_ptr<nvrtc::LoadedWrittenKernel>> loaded(Operation& operation, DeviceIndex device,
                                                           ir::ElementType element) {
  const std::lock_guard lock(operation.mutex);
  auto& kernel = operation.loaded[{to_int(device), element}];
  if (kernel == nullptr) {
    auto loading = nvrtc::load_written_kernel(pytorch::device_at(device), written(operation, element));
    if (!loading) {
      return std::move(loading).error().with_context("custom operation " + operation.name);
    }
    kernel = *std::move(loading);
  }
  return kernel;
}

}  // namespace

Result<void> load_kernel(Operation& operation, DeviceIndex device, ir::ElementType element) {
  TESSIQ_ASSIGN_OR_RETURN(const auto kernel, loaded(operation, device, element));
  return {};
}

bool launch(Operation& operation, const Values& arguments, const Tensors& results, DeviceIndex device) {
  std::optional<Values> values = packed(operation, arguments);
  if (!values) {
    return false;
  }
  values->insert(values->end(), results.begin(), results.end());
  const Launch chosen = operation.definition.launch(*values);
  if (!chosen.declined.empty()) {
    log_info("custom", operation.name + " runs its reference: " + chosen.declined);
    return false;
  }
  // Nothing to compute; the driver refuses an empty grid.
  const auto is_zero = [](unsigned extent) { return extent == 0; };
  if (std::none_of(chosen.grid.begin(), chosen.grid.end(), is_zero)) {
    const auto element = element_of_call(operation, arguments);
    TORCH_INTERNAL_ASSERT(element, operation.name, " was launched for an element type it does not declare");
    const auto kernel = pytorch::value_or_raise(loaded(operation, device, *element));
    void* stream = pytorch::value_or_raise(pytorch::device_at(device).native_stream(current_stream(device)));
    run(*kernel, operation, chosen, *values, stream);
  }
  operation.kernel_calls.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::optional<Tensors> call_kernel(Operation& operation, const Values& arguments) {
  if (operation.kind != Kind::kKernel) {
    return std::nullopt;
  }
  const std::optional<Fitting> fits = fitting(operation, arguments);
  if (!fits) {
    return std::nullopt;
  }
  Tensors results = operation.writes ? Tensors() : results_for(operation, arguments);
  if (!launch(operation, arguments, results, fits->device)) {
    return std::nullopt;
  }
  return results;
}

Result<std::vector<std::string>> compile_every_kernel() {
  std::vector<std::string> architectures;
  for (int index = 0; index < pytorch::registry().device_count(); ++index) {
    Device& device = pytorch::device_at(static_cast<DeviceIndex>(index));
    if (device.kind() == DeviceKind::kCuda) {
      TESSIQ_ASSIGN_OR_RETURN(std::string architecture, nvrtc::architecture_of(device));
      architectures.push_back(std::move(architecture));
    }
  }
  if (architectures.empty()) {
    TESSIQ_ASSIGN_OR_RETURN(architectures, nvrtc::outermost_architectures());
  }
  std::vector<std::string> lines;
  for (Operation* operation : operations()) {
    for (int i = 0; i < ir::kElementTypeCount && operation->kind == Kind::kKernel; ++i) {
      const auto element = static_cast<ir::ElementType>(i);
      if (!operation->declares(element)) {
        continue;
      }
      const std::string what = operation->name + " " + std::string(ir::element_type_name(element));
      if (auto tried = nvrtc::try_written_kernel(written(*operation, element), architectures); !tried) {
        return std::move(tried).error().with_context("custom operation " + what);
      }
      lines.push_back(what);
    }
  }
  return lines;
}

}  // namespace tessiq::custom
