#include "hostcc/test_cache.h"

namespace {
const auto* const registered = testing::AddGlobalTestEnvironment(new tessiq::TestCache());
}  // namespace
