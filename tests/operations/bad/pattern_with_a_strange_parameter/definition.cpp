#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_with_a_strange_parameter) {
  tessiq::custom::Definition definition = sound_kernel("pattern_with_a_strange_parameter");
  return definition;
}
