#include "../sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(definition_that_raises) {
  tessiq::custom::Definition definition = sound_kernel("definition_that_raises");
  throw std::runtime_error("out of ideas");
  return definition;
}
