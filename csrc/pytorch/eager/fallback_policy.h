// Which tiers an operator without a kernel of ours may use, and the ledger of those it used.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tessiq::pytorch {

enum class FallbackMode {
  kBorrow,  // PyTorch's own kernel on the tensors' memory where there is one, else a copy to the host
  kCpu,     // always a copy to the host and back, on every device: what a port without a lender has
  kError,   // refuse
};

FallbackMode fallback_mode();
void set_fallback_mode(FallbackMode mode);

struct FallbackCounts {
  uint64_t borrow = 0;  // ran PyTorch's CUDA kernel on this device's memory
  uint64_t cpu = 0;     // ran PyTorch's CPU kernel
};

// Operators that fell back since the last reset, in order of name.
std::map<std::string, FallbackCounts> fallback_counts();
void reset_fallback_counts();

}  // namespace tessiq::pytorch
