// Only text is changed: Python must see the exception type that PyTorch chose.
#include "pytorch/eager/error_text.h"

#include <c10/util/Exception.h>

#include <string>

#include "pytorch/device/identity.h"

namespace tessiq::pytorch {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

template <typename Exception>
void raise_if(const c10::Error& error, const std::string& text) {
  if (dynamic_cast<const Exception*>(&error) != nullptr) {
    throw Exception(text, error.backtrace());
  }
}

}  // namespace

void with_our_device_names(c10::Device lender, DeviceIndex index, const std::function<void()>& call) {
  if (!lender.is_cuda()) {
    call();
    return;
  }
  try {
    call();
  } catch (const c10::Error& error) {
    const std::string text = replaced(error.msg(), lender.str(), to_torch(index).str());
    if (text == error.msg()) {
      throw;
    }
    raise_if<c10::IndexError>(error, text);
    raise_if<c10::ValueError>(error, text);
    raise_if<c10::TypeError>(error, text);
    raise_if<c10::NotImplementedError>(error, text);
    raise_if<c10::LinAlgError>(error, text);
    raise_if<c10::OutOfMemoryError>(error, text);
    throw c10::Error(text, error.backtrace());
  }
}

}  // namespace tessiq::pytorch
