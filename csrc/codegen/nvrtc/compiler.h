// NVRTC: CUDA text -> what the driver loads. Needs neither a GPU nor a driver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace tessiq::nvrtc {

// A card's architecture, such as 9.0.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

// The value of --gpu-architecture for a card: its own "sm_90"; the nearest older of the same generation where this
// NVRTC does not know it; else "compute_..", whose result is PTX that the driver compiles. kUnsupported where NVRTC
// knows nothing old enough, or is not installed.
Result<std::string> target_architecture(ComputeCapability card);

// Every architecture that this NVRTC compiles for, such as 75, ascending.
Result<std::vector<int>> supported_architectures();

// "13.0": part of a cache key, as another version makes other code of the same text.
Result<std::string> version();

// A cubin for "sm_..", PTX for "compute_..". kExternal with NVRTC's whole log where it refuses, saying what it refused:
// the log's line numbers are the way into the text.
Result<std::string> compile(const std::string& source, const std::string& architecture,
                            std::string_view what = "generated code");

}  // namespace tessiq::nvrtc
