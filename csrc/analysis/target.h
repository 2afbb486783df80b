// What the target of a compile can run. Passes and claims read it and never ask a device.
#pragma once

namespace tessiq::analysis {

// Where operations that nothing of ours runs are executed. Tensors on the device: there. Tensors on the host: on the
// host, and every edge between the two is a crossing.
enum class UnclaimedPlace { kHost, kDevice };

struct TargetOptions {
  UnclaimedPlace unclaimed = UnclaimedPlace::kHost;
  // Of tensors on the host: whether work has to be worth its copies between host and device. False: what is claimed
  // and computes anything is placed.
  bool weighs_crossings = true;
  bool has_generated_loops = true;  // an emitter, and a compiler for what it writes
  bool has_matmul = true;           // cuBLASLt, or ATen on the reference device
  bool has_convolution = true;      // cuDNN, or ATen on the reference device
};

}  // namespace tessiq::analysis
