#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(backward_with_other_parameters) {
  tessiq::custom::Definition definition = sound_kernel("backward_with_other_parameters");
  definition.backward = &backward_without_result;
  return definition;
}
