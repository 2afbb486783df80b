#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(schema_that_does_not_parse) {
  tessiq::custom::Definition definition = sound_kernel("schema_that_does_not_parse");
  definition.schema = "schema_that_does_not_parse(Tensr x) -> Tensor";
  return definition;
}
