// The choice of tier for one call, and each tier's three steps: exchange the tensors, run PyTorch's kernel, restore.
//
// Views and factories must not get here, since a copy would lose what they are; random operators run PyTorch's CPU
// kernel on every device, drawing from the device's own generator.
#include "pytorch/eager/fallback.h"

#include <c10/core/DispatchKeySet.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "pytorch/device/generator.h"
#include "pytorch/device/identity.h"
#include "pytorch/eager/call_arguments.h"
#include "pytorch/eager/error_text.h"
#include "pytorch/eager/fallback_policy.h"
#include "pytorch/eager/host_mirror.h"
#include "pytorch/eager/lender.h"
#include "pytorch/eager/operator_facts.h"
#include "support/log.h"

namespace tessiq::pytorch {
namespace {

void log_fallback(const OperatorFacts& facts, const char* where) {
  if (log_enabled(LogLevel::kDebug)) {
    log_debug("fallback", facts.name + " " + where);
  }
}

void run_lent(const c10::OperatorHandle& kernel_of, OperatorFacts& facts, const Lender& lender,
              CallArguments& arguments, torch::jit::Stack* stack) {
  const bool on_cuda = lender.key == c10::DispatchKey::CUDA;
  log_fallback(facts, on_cuda ? "borrows PyTorch's CUDA kernel" : "runs PyTorch's CPU kernel in place");
  if (!on_cuda) {
    arguments.refuse_host_tensors();
  }
  const DeviceIndex index = arguments.device();
  {
    const LenderScope scope(lender, index);
    for (TensorUse& use : arguments.uses()) {
      use.lent = lend(use.own, lender, use.written);
    }
    arguments.exchange(lender.device);
    with_our_device_names(lender.device, index,
                          [&] { kernel_of.redispatchBoxed(c10::DispatchKeySet(lender.key), stack); });
  }
  (on_cuda ? facts.borrowed : facts.on_cpu).fetch_add(1, std::memory_order_relaxed);
  for (const TensorUse& use : arguments.uses()) {
    if (use.written) {
      follow_resize(use.own, use.lent);
    }
  }
  arguments.restore_results([&](const at::Tensor& tensor) {
    return tensor.defined() && tensor.device() == lender.device ? adopt(tensor, index) : tensor;
  });
}

void run_on_host_copies(const c10::OperatorHandle& kernel_of, OperatorFacts& facts, CallArguments& arguments,
                        torch::jit::Stack* stack) {
  log_fallback(facts, "copies its tensors to the host and runs PyTorch's CPU kernel");
  arguments.refuse_host_tensors();
  const DeviceIndex index = arguments.device();
  {
    const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                                            c10::autocast_dispatch_keyset);
    mirror_on_host(arguments.uses());
    arguments.exchange(c10::Device(c10::DeviceType::CPU));
    kernel_of.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }
  facts.on_cpu.fetch_add(1, std::memory_order_relaxed);
  write_back(arguments.uses());
  arguments.restore_results([&](const at::Tensor& tensor) { return upload(tensor, index); });
}

void refuse_what_must_be_native(const OperatorFacts& facts) {
  TORCH_INTERNAL_ASSERT(!facts.is_view, facts.name,
                        " returns a view and has no tessiq kernel; a fallback would lose the shared memory");
  TORCH_CHECK_NOT_IMPLEMENTED(fallback_mode() != FallbackMode::kError, facts.name,
                              " has no tessiq kernel, and tessiq.config.fallback is 'error'");
  TORCH_CHECK_NOT_IMPLEMENTED(!facts.is_random || facts.takes_generator, facts.name,
                              " draws random numbers without a generator to draw from and has no tessiq kernel");
}

void use_device_generator(CallArguments& arguments) {
  DeviceGenerator& generator = generator_or_default(arguments.generator(), arguments.device());
  arguments.set_generator(take_cpu_generator(generator));
}

}  // namespace

void fallback_as(const c10::OperatorHandle& op, const c10::OperatorHandle& kernel_of, torch::jit::Stack* stack) {
  OperatorFacts& facts = facts_of(op);
  refuse_what_must_be_native(facts);
  CallArguments arguments(facts, *stack);
  const ScopedDevice current(arguments.device());
  if (facts.is_random) {
    use_device_generator(arguments);
  }
  const bool may_lend = fallback_mode() == FallbackMode::kBorrow;
  std::optional<Lender> lender = may_lend ? lender_for(arguments.device()) : std::nullopt;
  // Numbers have to be the same on every device, so a GPU's random operators run on the CPU too.
  const bool cuda_will_do = !facts.is_random && kernel_of.hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA);
  if (lender && lender->key == c10::DispatchKey::CUDA && !cuda_will_do) {
    lender.reset();
  }
  TORCH_CHECK_NOT_IMPLEMENTED(lender || kernel_of.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
                              "Could not run '", facts.name,
                              "' on a tessiq device: PyTorch has no CPU kernel to fall back to");
  if (lender) {
    run_lent(kernel_of, facts, *lender, arguments, stack);
  } else {
    run_on_host_copies(kernel_of, facts, arguments, stack);
  }
}

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { fallback_as(op, op, stack); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

}  // namespace tessiq::pytorch
