#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(unknown_name_in_expression) {
  tessiq::custom::Definition definition = sound_expression("unknown_name_in_expression");
  definition.expression = "$0 * $beta";
  return definition;
}
