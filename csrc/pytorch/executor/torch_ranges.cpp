// The open functions of each thread, innermost last.
#include "pytorch/executor/torch_ranges.h"

#include <ATen/record_function.h>

#include <string>
#include <vector>

namespace tessiq::pytorch {
namespace {

thread_local std::vector<std::unique_ptr<at::RecordFunction>> open_functions;

class TorchRanges final : public profiling::Ranges {
 public:
  void push(const char* text) override {
    auto function = std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION);
    if (function->isActive()) {
      function->before(std::string(text));
    }
    open_functions.push_back(std::move(function));
  }
  void pop() override { open_functions.pop_back(); }
};

}  // namespace

std::shared_ptr<profiling::Ranges> torch_ranges() { return std::make_shared<TorchRanges>(); }

}  // namespace tessiq::pytorch
