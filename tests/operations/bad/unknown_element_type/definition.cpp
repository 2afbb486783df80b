#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(unknown_element_type) {
  tessiq::custom::Definition definition = sound_kernel("unknown_element_type");
  definition.element_types = {at::kComplexFloat};
  return definition;
}
