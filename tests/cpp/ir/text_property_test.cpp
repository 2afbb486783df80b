// What holds for every graph and every text: printing round-trips, and bytes give an error with a place or a graph.
#include <gtest/gtest.h>

#include <cctype>
#include <random>
#include <string>

#include "ir/text/text.h"
#include "ir/verifier.h"
#include "random_graph.h"

namespace tessiq::ir {
namespace {

using testing_support::random_graph;

constexpr uint64_t kGraphs = 2000;
constexpr uint64_t kMutationsPerGraph = 20;

// "line:column: " in front.
bool has_place(const std::string& message) {
  size_t at = 0;
  for (int part = 0; part < 2; ++part) {
    const size_t start = at;
    while (at < message.size() && std::isdigit(static_cast<unsigned char>(message[at])) != 0) {
      ++at;
    }
    if (at == start || at >= message.size() || message[at] != ':') {
      return false;
    }
    ++at;
  }
  return at < message.size() && message[at] == ' ';
}

void expect_error_or_round_trip(const std::string& text) {
  const auto graph = parse(text);
  if (!graph) {
    EXPECT_EQ(graph.error().code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_TRUE(has_place(graph.error().message())) << graph.error().message();
    return;
  }
  const std::string printed = print(**graph);
  const auto again = parse(printed);
  ASSERT_TRUE(again.ok()) << again.error().message() << "\n" << printed;
  EXPECT_EQ(print(**again), printed);
}

TEST(TextProperty, RandomGraphsVerifyAndRoundTrip) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const auto graph = random_graph(seed);
    const auto verified = verify(*graph);
    ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().message();
    const std::string printed = print(*graph);
    const auto parsed = parse(printed);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.error().message() << "\n" << printed;
    ASSERT_EQ(print(**parsed), printed) << "seed " << seed;
  }
}

// Text says attributes apart: what compares equal prints alike and the other way round.
TEST(TextProperty, AttributesAreEqualExactlyWhereTheirTextIs) {
  std::vector<Attribute> all;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto graph = random_graph(seed);
    for (const auto& node : graph->nodes()) {
      for (const auto& [key, attribute] : node->attributes()) {
        all.push_back(attribute);
      }
    }
  }
  for (const Attribute& a : all) {
    for (const Attribute& b : all) {
      ASSERT_EQ(attributes_equal(a, b), attribute_to_string(a) == attribute_to_string(b)) << attribute_to_string(a);
    }
  }
}

std::string mutated(std::string text, std::mt19937_64& engine) {
  constexpr std::string_view kTokens[] = {"%",  "@", "{",  "}", "(",    ")",   "[",         "]",
                                          "//", "?", "\"", "-", "min(", "nan", "9999999999"};
  for (uint64_t edits = 1 + engine() % 4; edits > 0; --edits) {
    const size_t at = text.empty() ? 0 : engine() % text.size();
    switch (engine() % 5) {
      case 0:
        text.erase(at, 1 + engine() % 4);
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(engine()));
        break;
      case 2:
        text.insert(at, kTokens[engine() % std::size(kTokens)]);
        break;
      case 3:
        text.insert(at, text.substr(text.empty() ? 0 : engine() % text.size(), engine() % 20));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(TextProperty, MutatedTextsGiveAnErrorWithAPlaceOrRoundTrip) {
  std::mt19937_64 engine(20240);
  for (uint64_t seed = 0; seed < kGraphs / 4; ++seed) {
    const std::string text = print(*random_graph(seed));
    for (uint64_t i = 0; i < kMutationsPerGraph; ++i) {
      expect_error_or_round_trip(mutated(text, engine));
    }
  }
}

TEST(TextProperty, RandomBytesGiveAnErrorWithAPlace) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t length = engine() % 64; length > 0; --length) {
      text += static_cast<char>(engine());
    }
    expect_error_or_round_trip(text);
  }
}

}  // namespace
}  // namespace tessiq::ir
