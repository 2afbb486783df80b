#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(no_kind_at_all) {
  tessiq::custom::Definition definition = sound_kernel("no_kind_at_all");
  definition.launch = {};
  return definition;
}
