// Writing and reading the margins of red_zones.h.
#include "runtime/red_zones.h"

#include <array>
#include <cstdint>
#include <string>

#include "support/log.h"

namespace tessiq {
namespace {

constexpr size_t kMargin = kDeviceAlignment;
// Neither zero nor all ones, which kernels write most often.
constexpr uint8_t kPattern = 0xA5;

char* front_margin(void* base) { return static_cast<char*>(base); }
char* back_margin(void* base, Bytes size) { return static_cast<char*>(base) + kMargin + size.value; }

}  // namespace

Result<void> RedZones::write_margins(void* base, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(device_->fill_bytes(front_margin(base), kPattern, Bytes{kMargin}, stream));
  return device_->fill_bytes(back_margin(base, size), kPattern, Bytes{kMargin}, stream);
}

Result<void*> RedZones::allocate(Bytes size, Stream stream) {
  const Bytes total{size.value + 2 * kMargin};
  TESSIQ_ASSIGN_OR_RETURN(void* base, device_->allocate(total));
  Result<void> written = write_margins(base, size, stream);
  if (!written) {
    device_->deallocate(base, total);
    return std::move(written).error().with_context("writing the red zones of a block");
  }
  return static_cast<void*>(static_cast<char*>(base) + kMargin);
}

Result<bool> RedZones::margins_intact(void* base, Bytes size, Stream stream) {
  TESSIQ_RETURN_IF_ERROR(device_->synchronize());
  for (const char* margin : {front_margin(base), back_margin(base, size)}) {
    std::array<uint8_t, kMargin> found{};
    TESSIQ_RETURN_IF_ERROR(device_->copy_to_host(found.data(), margin, Bytes{kMargin}, stream, Blocking::kYes));
    for (size_t i = 0; i < kMargin; ++i) {
      if (found[i] != kPattern) {
        const bool before = margin == front_margin(base);
        const size_t distance = before ? kMargin - i : i;
        log(LogLevel::kError, "runtime",
            "a block of " + std::to_string(size.value) + " bytes was overrun: the byte " + std::to_string(distance) +
                (before ? " before its start" : " past its end") + " was written");
        return false;
      }
    }
  }
  return true;
}

bool RedZones::check_and_free(void* pointer, Bytes size, Stream stream) noexcept {
  void* base = static_cast<char*>(pointer) - kMargin;
  const Result<bool> intact = margins_intact(base, size, stream);
  if (!intact) {
    log_warning("runtime", "the red zones of a block could not be read: " + intact.error().message());
  }
  device_->deallocate(base, Bytes{size.value + 2 * kMargin});
  return !intact || *intact;
}

}  // namespace tessiq
