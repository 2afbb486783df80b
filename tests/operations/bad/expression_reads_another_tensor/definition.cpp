#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(expression_reads_another_tensor) {
  tessiq::custom::Definition definition = sound_expression("expression_reads_another_tensor");
  definition.expression = "$0 + $1";
  return definition;
}
