#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(expression_of_two_results) {
  tessiq::custom::Definition definition = sound_expression("expression_of_two_results");
  definition.schema = "expression_of_two_results(Tensor x) -> (Tensor, Tensor)";
  return definition;
}
