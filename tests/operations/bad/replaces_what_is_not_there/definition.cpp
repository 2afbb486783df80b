#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(replaces_what_is_not_there) {
  tessiq::custom::Definition definition = sound_kernel("replaces_what_is_not_there");
  definition.replaces = "aten::frobnicate";
  return definition;
}
