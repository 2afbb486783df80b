#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(writes_and_returns_new) {
  tessiq::custom::Definition definition = sound_kernel("writes_and_returns_new");
  definition.schema = "writes_and_returns_new(Tensor(a!) x) -> (Tensor(a!), Tensor)";
  return definition;
}
