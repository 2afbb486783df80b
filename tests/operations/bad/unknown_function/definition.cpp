#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(unknown_function) {
  tessiq::custom::Definition definition = sound_expression("unknown_function");
  definition.expression = "frobnicate($0)";
  return definition;
}
