#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(schema_of_another_name) {
  tessiq::custom::Definition definition = sound_kernel("schema_of_another_name");
  definition.schema = "another_name(Tensor x) -> Tensor";
  return definition;
}
