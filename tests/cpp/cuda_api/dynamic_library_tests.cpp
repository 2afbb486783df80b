// Where libraries are looked for, and what is said about one that cannot be had.
#include "cuda_api/dynamic_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace tessiq {
namespace {

// A library that every process has loaded.
constexpr const char* kLoaded = "libc.so.6";

TEST(DynamicLibrary, TakesALibraryThatIsInTheProcess) {
  const Result<DynamicLibrary> library = DynamicLibrary::open({kLoaded});
  ASSERT_TRUE(library.ok());
  const Result<void*> symbol = library->symbol("abs");
  ASSERT_TRUE(symbol.ok());
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(*symbol)(-3), 3);
  EXPECT_NE(library->path().find(kLoaded), std::string::npos);
}

TEST(DynamicLibrary, TriesTheNamesInOrder) { EXPECT_TRUE(DynamicLibrary::open({"libtessiq-none.so.1", kLoaded}).ok()); }

TEST(DynamicLibrary, SaysWhichLibraryIsMissingAndWhereItLooked) {
  const Result<DynamicLibrary> library = DynamicLibrary::open({"libtessiq-none.so.1"});
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(library.error().message().find("libtessiq-none.so.1 could not be loaded"), std::string::npos);
  EXPECT_NE(library.error().message().find("registered folders"), std::string::npos);
}

TEST(DynamicLibrary, SaysWhichFunctionAVersionLacks) {
  const Result<void*> symbol = DynamicLibrary::open({kLoaded})->symbol("tessiq_no_such_function");
  ASSERT_FALSE(symbol.ok());
  EXPECT_EQ(symbol.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(symbol.error().message().find("tessiq_no_such_function"), std::string::npos);
}

TEST(DynamicLibrary, RefusesAnEmptyListOfNames) {
  EXPECT_EQ(DynamicLibrary::open({}).error().code(), ErrorCode::kInvalidArgument);
}

TEST(DynamicLibrary, PassesOverAFileThatIsNotALibrary) {
  char folder[] = "/tmp/tessiq-library-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/libtessiq-damaged.so";
  std::ofstream(path) << "not a library";
  add_library_directory(folder);
  EXPECT_EQ(DynamicLibrary::open({"libtessiq-damaged.so"}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(std::remove(path.c_str()) + std::remove(folder), 0);
}

TEST(LibraryDirectories, AreKeptOnceAndInOrder) {
  const size_t before = library_directories().size();
  add_library_directory("/tessiq/first/");
  add_library_directory("/tessiq/second");
  add_library_directory("/tessiq/first");
  add_library_directory("");
  const std::vector<std::string> folders = library_directories();
  ASSERT_EQ(folders.size(), before + 2);
  EXPECT_EQ(folders[before], "/tessiq/first");
  EXPECT_EQ(folders[before + 1], "/tessiq/second");
}

}  // namespace
}  // namespace tessiq
