#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(pattern_with_an_unread_node) {
  tessiq::custom::Definition definition = sound_kernel("pattern_with_an_unread_node");
  return definition;
}
