#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(launch_with_other_parameters) {
  tessiq::custom::Definition definition = sound_kernel("launch_with_other_parameters");
  definition.launch = &launch_without_result;
  return definition;
}
