// Events per stream, as pending_uses.h describes.
#include "runtime/pending_uses.h"

#include <iterator>
#include <utility>

#include "support/log.h"

namespace tessiq {

Event PendingUses::mark(Stream stream) {
  Result<Event> created = device_->create_event(Timing::kNo);
  if (!created) {
    return Event{};
  }
  if (!device_->record_event(*created, stream)) {
    device_->destroy_event(*created);
    return Event{};
  }
  return *created;
}

void PendingUses::add(Block block) {
  auto held = std::make_shared<HeldBlock>();
  held->streams_left = block.other_streams.size();
  held->block = std::move(block);
  for (const Stream stream : held->block.other_streams) {
    uses_[stream.id].push_back(Use{mark(stream), held});
  }
}

void PendingUses::append(PendingUses&& other) {
  for (auto& [id, later] : other.uses_) {
    std::deque<Use>& queue = uses_[id];
    queue.insert(queue.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
  }
  other.uses_.clear();
}

bool PendingUses::has_passed(Use& use, Stream stream) {
  if (use.event.handle == nullptr) {
    use.event = mark(stream);
    if (use.event.handle == nullptr) {
      return false;
    }
  }
  const Result<bool> done = device_->event_is_done(use.event);
  if (!done || !*done) {
    return false;
  }
  device_->destroy_event(use.event);
  return true;
}

bool PendingUses::wait_for(Use& use, Stream stream) {
  const Result<void> waited =
      use.event.handle != nullptr ? device_->synchronize_event(use.event) : device_->synchronize_stream(stream);
  if (!waited) {
    log_warning("runtime",
                "a freed block stays held back, for its stream cannot be waited for: " + waited.error().message());
    return false;
  }
  if (use.event.handle != nullptr) {
    device_->destroy_event(use.event);
  }
  return true;
}

void PendingUses::finish(Use& use, std::vector<Block>& finished) {
  if (--use.held->streams_left == 0) {
    finished.push_back(std::move(use.held->block));
  }
}

std::vector<Block> PendingUses::take_finished() {
  std::vector<Block> finished;
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    std::deque<Use>& queue = entry->second;
    const int64_t id = entry->first;
    // Events of one stream pass in order: behind one that has not, none has.
    while (!queue.empty() && has_passed(queue.front(), Stream{queue.front().held->block.stream.device, id})) {
      finish(queue.front(), finished);
      queue.pop_front();
    }
    entry = queue.empty() ? uses_.erase(entry) : std::next(entry);
  }
  return finished;
}

std::vector<Block> PendingUses::wait_for_all(int64_t& waits) {
  std::vector<Block> finished;
  for (auto entry = uses_.begin(); entry != uses_.end();) {
    std::deque<Use>& queue = entry->second;
    const int64_t id = entry->first;
    while (!queue.empty()) {
      ++waits;
      if (!wait_for(queue.front(), Stream{queue.front().held->block.stream.device, id})) {
        break;
      }
      finish(queue.front(), finished);
      queue.pop_front();
    }
    entry = queue.empty() ? uses_.erase(entry) : std::next(entry);
  }
  return finished;
}

}  // namespace tessiq
