#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(replaces_a_composite) {
  tessiq::custom::Definition definition = sound_kernel("replaces_a_composite");
  definition.schema = "replaces_a_composite(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
  definition.reference = &softmax_reference;
  definition.launch = &softmax_launch;
  definition.replaces = "aten::softmax.int";
  return definition;
}
