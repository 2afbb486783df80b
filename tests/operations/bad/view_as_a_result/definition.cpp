#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(view_as_a_result) {
  tessiq::custom::Definition definition = sound_kernel("view_as_a_result");
  definition.schema = "view_as_a_result(Tensor(a) x) -> Tensor(a)";
  return definition;
}
