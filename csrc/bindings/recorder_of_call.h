// Which profile a compiled call belongs to.
#pragma once

#include <memory>

#include "profiling/recorder.h"

namespace tessiq::bindings {

std::shared_ptr<profiling::Recorder> look_up_recorder();

// The profile that this thread started; or that the thread started for which autograd runs a backward pass here. Null
// where there is none.
inline std::shared_ptr<profiling::Recorder> recorder_of_call() {
  return profiling::Recorder::any() ? look_up_recorder() : nullptr;
}

}  // namespace tessiq::bindings
