#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(reference_with_other_parameters) {
  tessiq::custom::Definition definition = sound_kernel("reference_with_other_parameters");
  definition.reference = &reference_of_two;
  return definition;
}
