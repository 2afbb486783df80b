#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_of_two_results) {
  tessiq::custom::Definition definition = sound_kernel("pattern_of_two_results");
  return definition;
}
