#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(expression_of_a_text) {
  tessiq::custom::Definition definition = sound_expression("expression_of_a_text");
  definition.schema = "expression_of_a_text(Tensor x, str mode) -> Tensor";
  return definition;
}
