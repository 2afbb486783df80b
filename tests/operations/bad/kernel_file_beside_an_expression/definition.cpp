#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(kernel_file_beside_an_expression) {
  tessiq::custom::Definition definition = sound_expression("kernel_file_beside_an_expression");
  return definition;
}
