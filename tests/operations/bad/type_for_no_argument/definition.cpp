#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(type_for_no_argument) {
  tessiq::custom::Definition definition = sound_kernel("type_for_no_argument");
  definition.argument_types = {{"target", at::kLong}};
  return definition;
}
