#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_with_a_strange_capture) {
  tessiq::custom::Definition definition = sound_kernel("pattern_with_a_strange_capture");
  return definition;
}
