// The table of kept_inputs.h.
#include "pytorch/executor/kept_inputs.h"

namespace tessiq::pytorch {
namespace {

bool has_version(const at::Tensor& tensor) { return !tensor.is_inference(); }

}  // namespace

KeptInputs::KeptInputs(std::vector<bool> kept) : kept_(std::move(kept)), entries_(kept_.size()) {}

bool KeptInputs::matches(const Entry& entry, const at::Tensor& source) {
  // The weak reference keeps the address of a freed tensor from being mistaken for a new one's.
  return entry.source.has_value() && !entry.source->expired() &&
         entry.source->_unsafe_get_target() == source.unsafeGetTensorImpl() && entry.data == source.const_data_ptr() &&
         entry.version == static_cast<uint32_t>(source._version());
}

std::optional<at::Tensor> KeptInputs::find(int input, const at::Tensor& source) {
  if (!has_version(source)) {
    return std::nullopt;
  }
  std::lock_guard lock(mutex_);
  const Entry& entry = entries_[static_cast<size_t>(input)];
  if (!matches(entry, source) || !entry.copy.defined()) {
    return std::nullopt;
  }
  ++hits_;
  return entry.copy;
}

void KeptInputs::store(int input, const at::Tensor& source, const at::Tensor& copy) {
  if (!has_version(source)) {
    return;
  }
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[static_cast<size_t>(input)];
  const bool seen_before = matches(entry, source);
  entry.source.emplace(source.getIntrusivePtr());
  entry.data = source.const_data_ptr();
  entry.version = static_cast<uint32_t>(source._version());
  entry.copy = kept_[static_cast<size_t>(input)] || seen_before ? copy : at::Tensor();
}

void KeptInputs::clear() {
  std::lock_guard lock(mutex_);
  entries_.assign(entries_.size(), {});
}

int64_t KeptInputs::hits() const {
  std::lock_guard lock(mutex_);
  return hits_;
}

}  // namespace tessiq::pytorch
