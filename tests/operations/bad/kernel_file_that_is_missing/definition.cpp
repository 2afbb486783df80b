#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(kernel_file_that_is_missing) {
  tessiq::custom::Definition definition = sound_kernel("kernel_file_that_is_missing");
  return definition;
}
