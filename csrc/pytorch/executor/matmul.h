// One matrix multiply of a program, through the library of the device it runs on.
#pragma once

#include "program/program.h"
#include "pytorch/executor/registers.h"
#include "runtime/device.h"

namespace tessiq::pytorch {

// Allocates the target. cuBLASLt on CUDA; ATen over the same memory on the reference device.
void run_matmul(const program::Matmul& matmul, Registers& registers, const program::Program& program, Device& device,
                DeviceIndex index);

}  // namespace tessiq::pytorch
