#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(bare_constant) {
  tessiq::custom::Definition definition = sound_expression("bare_constant");
  definition.expression = "$0 * 0.5";
  return definition;
}
