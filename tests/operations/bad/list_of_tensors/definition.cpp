#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(list_of_tensors) {
  tessiq::custom::Definition definition = sound_kernel("list_of_tensors");
  definition.schema = "list_of_tensors(Tensor[] x) -> Tensor";
  definition.reference = &reference_of_list;
  return definition;
}
