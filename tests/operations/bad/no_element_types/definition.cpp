#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(no_element_types) {
  tessiq::custom::Definition definition = sound_kernel("no_element_types");
  definition.element_types = {};
  return definition;
}
