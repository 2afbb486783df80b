// libFuzzer's entry to the parser: any bytes give an error or a graph that prints and parses to itself.
//
// `./dev fuzz parser` builds and runs it; CI runs tests/cpp/ir/text_property_test.cpp instead.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = tessiq::ir::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!graph) {
    // A parser that lets through what the verifier refuses reports a bug of its own, not a fault of the text.
    if (graph.error().code() != tessiq::ErrorCode::kInvalidArgument) {
      std::abort();
    }
    return 0;
  }
  const std::string printed = tessiq::ir::print(**graph);
  const auto again = tessiq::ir::parse(printed);
  if (!again || tessiq::ir::print(**again) != printed) {
    std::abort();
  }
  return 0;
}
