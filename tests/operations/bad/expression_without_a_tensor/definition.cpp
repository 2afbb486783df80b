#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(expression_without_a_tensor) {
  tessiq::custom::Definition definition = sound_expression("expression_without_a_tensor");
  definition.schema = "expression_without_a_tensor(float x) -> Tensor";
  return definition;
}
