#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_that_binds_too_little) {
  tessiq::custom::Definition definition = sound_kernel("pattern_that_binds_too_little");
  definition.schema = "pattern_that_binds_too_little(Tensor x, Tensor y) -> Tensor";
  definition.reference = &reference_of_two;
  definition.launch = &launch_of_two;
  return definition;
}
