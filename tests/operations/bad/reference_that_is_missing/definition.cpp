#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(reference_that_is_missing) {
  tessiq::custom::Definition definition = sound_kernel("reference_that_is_missing");
  definition.reference = {};
  return definition;
}
