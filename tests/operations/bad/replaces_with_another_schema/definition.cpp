#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(replaces_with_another_schema) {
  tessiq::custom::Definition definition = sound_kernel("replaces_with_another_schema");
  definition.replaces = "aten::_log_softmax";
  return definition;
}
