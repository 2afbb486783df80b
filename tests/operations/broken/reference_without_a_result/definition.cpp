// The signature is right; what it returns is not.
#include "../../bad/sound_operation.h"

using namespace tessiq::test;

namespace {

at::Tensor reference(const at::Tensor& /*x*/) { return {}; }

}  // namespace

TESSIQ_CUSTOM_OP(reference_without_a_result) {
  tessiq::custom::Definition definition = sound_expression("reference_without_a_result");
  definition.reference = &reference;
  return definition;
}
