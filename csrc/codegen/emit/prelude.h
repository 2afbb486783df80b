// What generated text may call: the functions of csrc/optable/intrinsics.md and the emitters' own, defined without a
// single header, for CUDA and for the host.
//
// Decides their meaning (one text where both targets agree). A source gets only those that it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessiq::emit {

enum class TextTarget { kCuda, kHost };

// The definitions that `body` needs, each after those it needs itself; types first.
std::string prelude_for(std::string_view body, TextTarget target);

// Functions an expression may call, in the order they are defined.
std::vector<std::string_view> intrinsic_names();

}  // namespace tessiq::emit
