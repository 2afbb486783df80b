// A flag that fork's handler raises in the child.
#include "runtime/cuda/cuda_process.h"

#include <pthread.h>

#include <atomic>

namespace tessiq {
namespace {

std::atomic<bool> forked_after_start{false};

}  // namespace

void note_cuda_started() {
  // The handler cannot be taken away again, so it is installed once and only where there is something to refuse.
  static const int installed =
      pthread_atfork(nullptr, nullptr, [] { forked_after_start.store(true, std::memory_order_relaxed); });
  (void)installed;
}

bool in_forked_child() { return forked_after_start.load(std::memory_order_relaxed); }

Result<void> refuse_in_forked_child() {
  if (in_forked_child()) {
    return external(
        "this process was forked from one that had started CUDA, and CUDA does not work in such a child; start worker "
        "processes with the 'spawn' or 'forkserver' method");
  }
  return {};
}

}  // namespace tessiq
