#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_of_too_many_orders) {
  tessiq::custom::Definition definition = sound_kernel("pattern_of_too_many_orders");
  return definition;
}
