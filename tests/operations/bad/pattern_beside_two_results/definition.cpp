#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_beside_two_results) {
  tessiq::custom::Definition definition = sound_kernel("pattern_beside_two_results");
  definition.schema = "pattern_beside_two_results(Tensor x) -> (Tensor, Tensor)";
  definition.reference = &two_references_of_one;
  definition.launch = &launch_of_two;
  return definition;
}
