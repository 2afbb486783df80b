// What a report on CUDA's libraries must say of each.
#include "cuda_api/library_inventory.h"

#include <gtest/gtest.h>

namespace tessiq {
namespace {

TEST(LibraryInventory, SaysOfEveryLibraryWhereItIsOrWhyItIsNot) {
  for (const LibraryFact& fact : cuda_library_facts()) {
    EXPECT_EQ(fact.path.empty(), !fact.problem.empty()) << fact.name;
    if (!fact.problem.empty()) {
      EXPECT_NE(fact.problem.find(fact.name), std::string::npos) << fact.problem;
      EXPECT_TRUE(fact.version.empty()) << fact.name;
    }
  }
}

TEST(LibraryInventory, NamesTheDriverFirst) {
  const std::vector<LibraryFact> facts = cuda_library_facts();
  EXPECT_EQ(facts.empty(), !TESSIQ_HAS_CUDA);
  if (!facts.empty()) {
    EXPECT_EQ(facts.front().name, "libcuda.so.1");
  }
}

}  // namespace
}  // namespace tessiq
