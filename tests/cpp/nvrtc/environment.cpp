#include "cuda_api/loaded_libraries.h"
#include "hostcc/test_cache.h"

namespace {

class Libraries : public testing::Environment {
 public:
  void SetUp() override { tessiq::testing_support::register_wheel_libraries(); }
};

const auto* const cache = testing::AddGlobalTestEnvironment(new tessiq::TestCache());
const auto* const libraries = testing::AddGlobalTestEnvironment(new Libraries());

}  // namespace
