// PyTorch's own errors from a borrowed kernel, with the device the caller knows in place of the lender's.
#pragma once

#include <c10/core/Device.h>

#include <functional>

#include "runtime/device.h"

namespace tessiq::pytorch {

// Runs `call`; an error of PyTorch's that names `lender` is raised again, of the same type, naming device `index`.
void with_our_device_names(c10::Device lender, DeviceIndex index, const std::function<void()>& call);

}  // namespace tessiq::pytorch
