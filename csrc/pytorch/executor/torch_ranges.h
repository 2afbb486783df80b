// A profile's regions as functions of PyTorch's own profiler, which then knows the kernels that each of them launched.
#pragma once

#include <memory>

#include "profiling/ranges.h"

namespace tessiq::pytorch {

std::shared_ptr<profiling::Ranges> torch_ranges();

}  // namespace tessiq::pytorch
