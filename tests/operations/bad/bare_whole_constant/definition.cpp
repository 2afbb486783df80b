#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(bare_whole_constant) {
  tessiq::custom::Definition definition = sound_expression("bare_whole_constant");
  definition.expression = "$0 * 2";
  return definition;
}
