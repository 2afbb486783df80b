#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(precompiled_without_host_code) {
  tessiq::custom::Definition definition = sound_kernel("precompiled_without_host_code");
  definition.launch = {};
  definition.precompiled = true;
  return definition;
}
