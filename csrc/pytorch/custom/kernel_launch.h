// The kernel of an operation, compiled, loaded and launched. Eager calls and compiled graphs both launch here.
#pragma once

#include "pytorch/custom/operation.h"
#include "runtime/device.h"

namespace tessiq::custom {

// Loads the kernel for tensors of an element type, so that a first call need not wait for a compiler.
Result<void> load_kernel(Operation& operation, DeviceIndex device, ir::ElementType element);

// Runs the kernel on the device's current stream. `arguments` are the call's, of declared element types, on `device`;
// `results` its new results, packed and allocated. False where the launch function declines the call.
bool launch(Operation& operation, const Values& arguments, const Tensors& results, DeviceIndex device);

// A whole call: results sized by the reference on meta tensors. Nothing where the kernel does not take the call: a
// device that is no GPU, an element type that is not declared, a launch function that declines.
std::optional<Tensors> call_kernel(Operation& operation, const Values& arguments);

// Compiles every kernel for every declared element type: for the GPUs of this machine, else for the oldest and the
// newest that NVRTC knows. One line a kernel; the error of the first that does not compile.
Result<std::vector<std::string>> compile_every_kernel();

}  // namespace tessiq::custom
