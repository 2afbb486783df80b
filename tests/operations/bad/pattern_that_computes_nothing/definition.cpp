#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_that_computes_nothing) {
  tessiq::custom::Definition definition = sound_kernel("pattern_that_computes_nothing");
  return definition;
}
