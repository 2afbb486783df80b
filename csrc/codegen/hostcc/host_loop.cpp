#include "codegen/hostcc/host_loop.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "codegen/launch_check.h"
#include "support/int_math.h"

namespace tessiq::hostcc {
namespace {

// Starting a thread costs some 20 microseconds, which is what this many elements of a short loop take.
constexpr int64_t kElementsPerThread = 1 << 18;

// What an entry writes where a lookup finds a position that its axis has not: 1, the position, the extent.
using Fault = std::array<int64_t, 3>;

Result<void> check(const std::vector<Fault>& faults) {
  for (const auto& [found, position, extent] : faults) {
    if (found != 0) {
      return not_found("index " + std::to_string(position) + " is out of range for an axis of " +
                       std::to_string(extent) + " elements");
    }
  }
  return {};
}

}  // namespace

int thread_limit() {
  const char* text = std::getenv("TESSIQ_NUM_THREADS");
  const std::string_view digits(text == nullptr ? "" : text);
  int threads = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), threads);
  if (!digits.empty() && parsed.ec == std::errc() && threads > 0) {
    return threads;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

LoadedHostLoop::LoadedHostLoop(const emit::LoopKernel& kernel, std::shared_ptr<const HostCode> code)
    : name_(kernel.name),
      sizes_(emit::LoopSizes::of(kernel)),
      reduced_axes_(kernel.reduced_axes),
      code_(std::move(code)) {}

int64_t LoadedHostLoop::units(std::span<const int64_t> sizes, int64_t element_count) const {
  if (reduced_axes_ == 0) {
    return element_count;
  }
  int64_t rows = 1;
  for (size_t axis = 0; axis + static_cast<size_t>(reduced_axes_) < sizes_.extents.size(); ++axis) {
    rows *= sizes_.extents[axis].value(sizes);
  }
  return rows;
}

Result<void> LoadedHostLoop::launch(std::span<void* const> pointers, std::span<const int64_t> sizes,
                                    int64_t element_count, void* /*workspace*/, void* /*native_stream*/) {
  TESSIQ_RETURN_IF_ERROR(codegen::check_launch(name_, sizes_, pointers, sizes, element_count));
  const int64_t count = units(sizes, element_count);
  if (count == 0) {
    return {};
  }
  codegen::kernel_counters().host_launches.fetch_add(1, std::memory_order_relaxed);
  const int64_t wanted = std::min(element_count / kElementsPerThread, count);
  const int64_t parts = wanted < 2 ? 1 : std::min<int64_t>(wanted, thread_limit());
  const int64_t share = ceil_div(count, parts);
  // Threads for this launch alone: a pool would not survive a fork, and large launches hide their start.
  std::vector<std::thread> threads;
  std::vector<Fault> faults(static_cast<size_t>(parts));
  for (int64_t begin = share; begin < count; begin += share) {
    const int64_t end = std::min(begin + share, count);
    int64_t* fault = faults[static_cast<size_t>(begin / share)].data();
    threads.emplace_back(
        [this, pointers, sizes, begin, end, fault] { code_->entry(pointers.data(), sizes.data(), begin, end, fault); });
  }
  code_->entry(pointers.data(), sizes.data(), 0, std::min(share, count), faults.front().data());
  for (std::thread& thread : threads) {
    thread.join();
  }
  return check(faults);
}

Result<std::vector<codegen::EntryFacts>> LoadedHostLoop::facts() const {
  return std::vector<codegen::EntryFacts>{{.entry = code_->entry_name}};
}

}  // namespace tessiq::hostcc
