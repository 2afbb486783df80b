// Values from one tensor into another, whichever devices, layouts and element types they have.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/device.h"

namespace tessiq::pytorch {

// At least one of the two is on a tessiq device. `source` is broadcast to `target`. Raises where `target` overlaps
// itself. Blocking::kNo may return before the copy is done, and only does so for pinned host memory.
void copy_values(const at::Tensor& source, const at::Tensor& target, Blocking blocking);

}  // namespace tessiq::pytorch
