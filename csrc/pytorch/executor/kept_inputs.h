// Device copies of arguments that have not changed since they were copied: a model's weights, above all.
//
// Decides when a copy may serve again: the same tensor object, at the same address, with the same version counter.
// A tensor without a counter (made in inference mode) is copied every call. What bumps no counter, a write through
// `.data` or through a NumPy array over the same memory, is not seen: docs/design/0062-kept-inputs.md.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace tessiq::pytorch {

class KeptInputs {
 public:
  // `kept[i]`: argument i is a parameter or buffer, kept from its first copy on. Any other argument is kept from its
  // second, so that a batch of activations is never held past its call.
  explicit KeptInputs(std::vector<bool> kept);

  // The device copy to use, if the argument is what it was.
  std::optional<at::Tensor> find(int input, const at::Tensor& source);
  // Remembers a copy just made.
  void store(int input, const at::Tensor& source, const at::Tensor& copy);
  void clear();
  int64_t hits() const;

 private:
  struct Entry {
    std::optional<c10::weak_intrusive_ptr<c10::TensorImpl>> source;
    const void* data = nullptr;
    uint32_t version = 0;
    at::Tensor copy;
  };
  static bool matches(const Entry& entry, const at::Tensor& source);

  mutable std::mutex mutex_;
  std::vector<bool> kept_;
  std::vector<Entry> entries_;
  int64_t hits_ = 0;
};

}  // namespace tessiq::pytorch
