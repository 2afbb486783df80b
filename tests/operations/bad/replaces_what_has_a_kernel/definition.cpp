#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(replaces_what_has_a_kernel) {
  tessiq::custom::Definition definition = sound_kernel("replaces_what_has_a_kernel");
  definition.schema = "replaces_what_has_a_kernel(Tensor self, int dim, bool half_to_float) -> Tensor";
  definition.reference = &whole_softmax_reference;
  definition.launch = &whole_softmax_launch;
  definition.replaces = "aten::_softmax";  // which the shipped softmax replaces
  return definition;
}
