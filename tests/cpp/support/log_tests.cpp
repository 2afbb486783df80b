// The log's level, its sink, and who may log from where.
#include "support/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tessiq {
namespace {

class Log : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel, std::string_view topic, std::string_view message) {
      lines.push_back(std::string(topic) + "|" + std::string(message));
    });
  }
  void TearDown() override {
    set_log_sink({});
    set_log_level(LogLevel::kWarning);
  }

  std::vector<std::string> lines;
};

TEST_F(Log, HandsTopicAndMessageToTheSink) {
  log_warning("runtime", "full");
  EXPECT_EQ(lines, std::vector<std::string>{"runtime|full"});
}

TEST_F(Log, DropsLinesBelowTheLevel) {
  log_info("runtime", "quiet");
  log_debug("runtime", "quieter");
  EXPECT_TRUE(lines.empty());
  EXPECT_FALSE(log_enabled(LogLevel::kInfo));
}

TEST_F(Log, PassesLinesOfALoweredLevel) {
  set_log_level(LogLevel::kDebug);
  log_debug("runtime", "now heard");
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(Log, LetsASinkLogWithoutDeadlock) {
  set_log_sink([](LogLevel level, std::string_view, std::string_view message) {
    if (message == "outer") {
      log(level, "runtime", "inner");
    }
  });
  log_warning("runtime", "outer");
}

TEST_F(Log, WritesToStandardErrorWithoutASink) {
  set_log_sink({});
  testing::internal::CaptureStderr();
  log_warning("cuda", "gone");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tessiq.cuda: gone\n");
}

TEST_F(Log, SurvivesASinkThatIsReplacedWhileOthersLog) {
  std::atomic<int> heard{0};
  std::atomic<bool> stop{false};
  std::thread replacer([&] {
    while (!stop) {
      set_log_sink([&](LogLevel, std::string_view, std::string_view) { ++heard; });
    }
  });
  for (int i = 0; i < 2000; ++i) {
    log_warning("runtime", "line");
  }
  stop = true;
  replacer.join();
  set_log_sink({});
  EXPECT_LE(heard, 2000);
}

}  // namespace
}  // namespace tessiq
