// Nothing at import tells: only compiling the kernel does.
#include "../../bad/sound_operation.h"

using namespace tessiq::test;

TESSIQ_CUSTOM_OP(kernel_that_does_not_compile) { return sound_kernel("kernel_that_does_not_compile"); }
