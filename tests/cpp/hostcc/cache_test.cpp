// Faults of the cache cost a compile and a warning, never a failure.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "codegen/cache/cache_key.h"
#include "codegen/cache/disk_cache.h"
#include "codegen/hostcc/compile_loops.h"
#include "hostcc/scoped_environment.h"
#include "support/log.h"

namespace tessiq {
namespace {

namespace fs = std::filesystem;
using cache::DiskCache;

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tessiq-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    set_log_sink([this](LogLevel, std::string_view, std::string_view message) { warnings_.emplace_back(message); });
  }
  void TearDown() override {
    set_log_sink({});
    fs::remove_all(directory_);
  }

  // A loop that no other test compiles.
  static emit::LoopKernel loop(double constant) {
    const ir::SizeExpr one = ir::SizeExpr::of_constant(1);
    emit::LoopKernel kernel;
    kernel.name = "sum";
    kernel.extents = {ir::SizeExpr::of_constant(4)};
    kernel.inputs = {{"a", ir::ElementType::kFloat32, {one}}};
    kernel.outputs = {{"sum", ir::ElementType::kFloat32, {one}}};
    emit::LoopStep step;
    step.value = "sum";
    step.op = "add";
    step.expression = "($0 + $1)";
    step.arguments = {emit::LoopRead{"a"}, emit::LoopConstant{constant}};
    kernel.steps = {step};
    return kernel;
  }

  // The loop compiled and run; whether 1 + constant came out.
  static testing::AssertionResult runs(double constant) {
    const emit::LoopKernel kernel = loop(constant);
    auto loaded = hostcc::compile_loops({&kernel, 1});
    if (!loaded) {
      return testing::AssertionFailure() << loaded.error().message();
    }
    float a[4] = {1, 2, 3, 4};
    float sum[4] = {};
    void* const pointers[] = {a, sum};
    auto launched = loaded->front()->launch(pointers, {}, 4, nullptr, nullptr);
    if (!launched || sum[3] != 4 + static_cast<float>(constant)) {
      return testing::AssertionFailure() << "wrong sum " << sum[3];
    }
    return testing::AssertionSuccess();
  }
  // In a process that has loaded nothing yet; 0 where it passed, without and with a run of the compiler.
  int runs_in_another_process(double constant) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const uint64_t before = codegen::kernel_counters().compilations;
      const bool passed = static_cast<bool>(runs(constant));
      ::_exit(!passed ? 2 : codegen::kernel_counters().compilations == before ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
  }

  static std::string entry_name(int number) { return std::string(31, '0') + std::to_string(number) + ".so"; }

  std::vector<fs::path> entries(const std::string& ending) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      if (entry.path().extension() == ending) {
        found.push_back(entry.path());
      }
    }
    return found;
  }

  std::string directory_;
  std::vector<std::string> warnings_;
};

TEST_F(CacheTest, GivesBackWhatWasWritten) {
  const DiskCache cache(directory_ + "/new", 1 << 20);
  EXPECT_FALSE(cache.read("a").has_value());
  const std::string payload("bytes\0and more", 14);
  EXPECT_TRUE(cache.write("a", payload));
  EXPECT_EQ(cache.read("a"), payload);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CacheTest, KeepsFieldsOfAKeyApart) {
  EXPECT_NE(cache::CacheKey().add("ab").add("c").hex(), cache::CacheKey().add("a").add("bc").hex());
  // Whatever stands between two fields may stand in one.
  EXPECT_NE(cache::CacheKey().add("a:b").hex(), cache::CacheKey().add("a").add("b").hex());
  EXPECT_EQ(cache::CacheKey().add("ab").hex().size(), 32U);
}

TEST_F(CacheTest, MissesADamagedEntryWithAWarning) {
  const DiskCache cache(directory_, 1 << 20);
  ASSERT_TRUE(cache.write("a", std::string(1000, 'x')));
  {
    std::fstream file(cache.path_of("a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(500);
    file.put('y');
  }
  EXPECT_FALSE(cache.read("a").has_value());
  EXPECT_EQ(warnings_.size(), 1U);
  EXPECT_FALSE(fs::exists(cache.path_of("a")));
}

TEST_F(CacheTest, MissesATruncatedAndAnEmptyEntry) {
  const DiskCache cache(directory_, 1 << 20);
  for (const uintmax_t size : {uintmax_t{700}, uintmax_t{10}, uintmax_t{0}}) {
    ASSERT_TRUE(cache.write("a", std::string(1000, 'x')));
    fs::resize_file(cache.path_of("a"), size);
    EXPECT_FALSE(cache.read("a").has_value()) << size;
  }
}

TEST_F(CacheTest, RemovesTheLongestUnusedBeyondItsLimit) {
  const DiskCache cache(directory_, 10000);
  const auto now = fs::file_time_type::clock::now();
  for (int k = 0; k < 8; ++k) {
    const std::string name = entry_name(k);
    ASSERT_TRUE(cache.write(name, std::string(2000, 'x')));
    fs::last_write_time(cache.path_of(name), now - std::chrono::minutes(60 - k));
  }
  EXPECT_TRUE(cache.read(entry_name(0)).has_value());  // used just now
  cache.trim();
  EXPECT_TRUE(cache.read(entry_name(0)).has_value());
  EXPECT_FALSE(cache.read(entry_name(1)).has_value());
  EXPECT_TRUE(cache.read(entry_name(7)).has_value());
}

TEST_F(CacheTest, SurveyCountsEntriesAndNamesTheDamagedOnes) {
  const DiskCache cache(directory_, 1 << 20);
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(cache.write(entry_name(k), std::string(1000, 'x')));
  }
  fs::resize_file(cache.path_of(entry_name(1)), 500);
  std::ofstream(cache.path_of("notes.txt")) << "somebody's own";
  const cache::CacheSurvey found = cache.survey();
  EXPECT_EQ(found.entries, 3U);
  EXPECT_EQ(found.damaged, std::vector<std::string>{entry_name(1)});
  EXPECT_GE(found.bytes, 2500U);
  EXPECT_LT(found.bytes, 3000U);
  EXPECT_TRUE(fs::exists(cache.path_of(entry_name(1)))) << "a survey changes nothing";
}

TEST_F(CacheTest, ClearAndTrimLeaveFilesOfOthersAlone) {
  const DiskCache cache(directory_, 10);
  const std::string notes = cache.path_of("notes.txt");
  std::ofstream(notes) << std::string(5000, 'n');
  ASSERT_TRUE(cache.write(entry_name(0), std::string(1000, 'x')));
  cache.trim();
  EXPECT_FALSE(cache.read(entry_name(0)).has_value());
  EXPECT_TRUE(fs::exists(notes));
  ASSERT_TRUE(cache.write(entry_name(1), std::string(1000, 'x')));
  const std::string unfinished = cache.path_of(".writing-1");
  std::ofstream(unfinished) << "half";
  const cache::CacheRemoval removed = cache.clear();
  EXPECT_EQ(removed.entries, 1U);
  EXPECT_TRUE(removed.left.empty());
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_EQ(cache.survey().entries, 0U);
  EXPECT_TRUE(fs::exists(notes));
}

TEST_F(CacheTest, TwoProcessesWriteOneEntry) {
  const DiskCache cache(directory_, 1 << 24);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  for (int round = 0; round < 300; ++round) {
    cache.write("shared", std::string(20000, child == 0 ? 'c' : 'p'));
    const auto content = cache.read("shared");
    const bool whole =
        content && content->size() == 20000 && content->find_first_not_of((*content)[0]) == std::string::npos;
    if (child == 0 && !whole) {
      ::_exit(1);
    }
    EXPECT_TRUE(whole);
  }
  if (child == 0) {
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CacheTest, ASecondProcessCompilesNothing) {
  const ScopedEnvironment cache("TESSIQ_CACHE_DIR", directory_);
  EXPECT_EQ(runs_in_another_process(101), 1);
  EXPECT_EQ(runs_in_another_process(101), 0);
}

TEST_F(CacheTest, ADamagedProgramIsCompiledAgain) {
  const ScopedEnvironment cache("TESSIQ_CACHE_DIR", directory_);
  EXPECT_EQ(runs_in_another_process(102), 1);
  ASSERT_EQ(entries(".so").size(), 1U);
  fs::resize_file(entries(".so").front(), 4096);
  EXPECT_EQ(runs_in_another_process(102), 1);
  EXPECT_EQ(runs_in_another_process(102), 0);
}

TEST_F(CacheTest, AProgramThatIsGoneIsCompiledAgain) {
  const ScopedEnvironment cache("TESSIQ_CACHE_DIR", directory_);
  EXPECT_EQ(runs_in_another_process(103), 1);
  fs::remove(entries(".so").front());
  EXPECT_EQ(runs_in_another_process(103), 1);
}

TEST_F(CacheTest, AnUnwritableDirectoryWarnsOnceAndGivesTheKernel) {
  std::ofstream(directory_ + "/file") << "not a directory";
  const ScopedEnvironment cache("TESSIQ_CACHE_DIR", directory_ + "/file/cache");
  EXPECT_TRUE(runs(104));
  EXPECT_TRUE(runs(105));
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(CacheTest, AFullDiskWarnsOnceAndGivesTheKernel) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "this machine has no /dev/full";
  }
  // Every temporary name leads to a device without room.
  const DiskCache cache("/dev/full", 1 << 20);
  EXPECT_FALSE(cache.write("a", "payload"));
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(CacheTest, WithoutAHomeThereIsNoCache) {
  const ScopedEnvironment own("TESSIQ_CACHE_DIR", std::nullopt);
  const ScopedEnvironment xdg("XDG_CACHE_HOME", std::nullopt);
  const ScopedEnvironment home("HOME", std::nullopt);
  EXPECT_EQ(DiskCache::of_user().directory(), "");
  EXPECT_TRUE(runs(106));
}

}  // namespace
}  // namespace tessiq
