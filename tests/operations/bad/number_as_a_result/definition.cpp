#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(number_as_a_result) {
  tessiq::custom::Definition definition = sound_kernel("number_as_a_result");
  definition.schema = "number_as_a_result(Tensor x) -> int";
  return definition;
}
