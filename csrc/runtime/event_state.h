// What an Event's handle points to: the part that every backend's events have in front of their own.
//
// Decides that an event given to a device of another kind is an error and not a wild pointer. Internal to csrc/runtime.
#pragma once

#include "runtime/device.h"

namespace tessiq {

struct EventState {
  DeviceKind kind;
  Timing timing;
};

// The event as `State`, whose device kind is `kind`. State derives from EventState.
template <typename State>
Result<State*> event_state(Event event, DeviceKind kind) {
  auto* state = static_cast<EventState*>(event.handle);
  if (state == nullptr) {
    return invalid_argument("the event was never created");
  }
  if (state->kind != kind) {
    return invalid_argument("the event belongs to a device of another kind");
  }
  return static_cast<State*>(state);
}

}  // namespace tessiq
