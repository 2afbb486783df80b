#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(more_than_one_kind) {
  tessiq::custom::Definition definition = sound_kernel("more_than_one_kind");
  definition.expression = "$0 + $0";
  return definition;
}
