#include "pytorch/executor/custom.h"

#include "pytorch/custom/kernel_launch.h"
#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

// Null where the device runs no kernel of it.
custom::Operation* operation_of(const program::Custom& custom, DeviceIndex device) {
  custom::Operation* operation = custom::find_operation(custom.otherwise.op);
  const bool launches =
      operation != nullptr && operation->kind == custom::Kind::kKernel && device_at(device).kind() == DeviceKind::kCuda;
  return launches ? operation : nullptr;
}

}  // namespace

Result<void> load_custom_kernels(const program::Program& program, DeviceIndex device) {
  for (const program::Instruction& instruction : program.instructions) {
    const auto* custom = std::get_if<program::Custom>(&instruction);
    custom::Operation* operation = custom == nullptr ? nullptr : operation_of(*custom, device);
    if (operation == nullptr) {
      continue;
    }
    // A claim says that the first tensor without a type of its own has a declared one.
    for (const program::Argument& argument : custom->otherwise.positional) {
      const auto* slot = std::get_if<program::Slot>(&argument);
      if (slot == nullptr) {
        continue;
      }
      const ir::ElementType element = program.slots[static_cast<size_t>(*slot)].element;
      if (operation->declares(element)) {
        TESSIQ_RETURN_IF_ERROR(custom::load_kernel(*operation, device, element));
        break;
      }
    }
  }
  return {};
}

bool run_custom(const program::Custom& custom, const PreparedCall& call, Registers& registers,
                const std::vector<int64_t>& sizes, DeviceIndex device) {
  custom::Operation* operation = operation_of(custom, device);
  if (operation == nullptr) {
    return false;
  }
  custom::Tensors results;
  for (const program::Slot target : custom.otherwise.targets) {
    registers.allocate(target);
    results.push_back(registers.tensor(target));
  }
  return custom::launch(*operation, call.arguments(registers, sizes), results, device);
}

}  // namespace tessiq::pytorch
