// One convolution of a program, through the library of the device it runs on.
#pragma once

#include "program/program.h"
#include "pytorch/executor/registers.h"
#include "runtime/device.h"

namespace tessiq::pytorch {

// Allocates and computes the targets through cuDNN. False, with nothing computed, where there is no library or it
// refuses: the instruction's operator is to run instead.
bool run_convolution(const program::Convolution& convolution, Registers& registers, const program::Program& program,
                     Device& device, DeviceIndex index);

}  // namespace tessiq::pytorch
