// Custom operations in a program: their kernels without the dispatcher in between.
#pragma once

#include "program/program.h"
#include "pytorch/executor/arguments.h"
#include "pytorch/executor/registers.h"
#include "runtime/device.h"
#include "support/result.h"

namespace tessiq::pytorch {

// Loads the kernels of the program's custom operations for the device.
Result<void> load_custom_kernels(const program::Program& program, DeviceIndex device);

// False where the operation has no kernel for the device, or its launch function declines the call.
bool run_custom(const program::Custom& custom, const PreparedCall& call, Registers& registers,
                const std::vector<int64_t>& sizes, DeviceIndex device);

}  // namespace tessiq::pytorch
