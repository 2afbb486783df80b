#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(writes_with_a_backward) {
  tessiq::custom::Definition definition = sound_kernel("writes_with_a_backward");
  definition.schema = "writes_with_a_backward(Tensor(a!) x) -> Tensor(a!)";
  definition.launch = &launch_without_result;
  definition.backward = &backward_without_result;
  return definition;
}
